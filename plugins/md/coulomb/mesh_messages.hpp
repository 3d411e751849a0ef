#pragma once
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::md {

/// Numbers for each rank, in rank order.
using RankBuffers = std::vector<std::vector<double>>;

/// Sends send[r] to rank r and returns what each rank sent; received[r] is the count that rank r sends here. Only ranks
/// between which there is something to send exchange messages. Collective.
RankBuffers exchange(RankBuffers send, const std::vector<std::int64_t>& received, const Comm& comm);

/// First of the `n` items that rank `rank` of `ranks` holds; the next rank's first is behind its last.
inline int first_share(int n, int rank, int ranks) {
  return static_cast<int>(static_cast<std::int64_t>(n) * rank / ranks);
}

}  // namespace cambium::md
