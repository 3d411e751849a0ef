#pragma once
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::md {

/// Values for each rank, in rank order.
using RankBuffers = std::vector<std::vector<double>>;

/// Sends send[r] to rank r and returns the data received from each rank; received[r] is the number of values that rank
/// r sends here. Messages are exchanged only between ranks with data to send. Collective.
RankBuffers exchange(RankBuffers send, const std::vector<std::int64_t>& received, const Comm& comm);

/// First of the `n` items of rank `rank` of `ranks`; the next rank's first is one past the last.
inline int first_share(int n, int rank, int ranks) {
  return static_cast<int>(static_cast<std::int64_t>(n) * rank / ranks);
}

}  // namespace cambium::md
