#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/reduce/traffic.hpp"

namespace cambium::train {

/// Position of each rank's rows among those of all ranks, in rank order.
struct RankRows {
  std::vector<std::int64_t> count;  ///< of each rank
  std::int64_t first = 0;           ///< of this rank's
  std::int64_t all = 0;
};

/// Collective: one value per rank.
RankRows rank_rows(std::int64_t own, const Comm& comm);

/// Collective: all-gathers rows of `width` values in rank order. T: double or float. Data sent by this rank are counted
/// under `name`.
template <class T>
std::vector<T> gathered(std::span<const T> own, std::int64_t width, const RankRows& rows, const char* name,
                        const Comm& comm, Traffic& traffic);

}  // namespace cambium::train
