#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/shared_pieces.hpp"

namespace cambium::kinetic {

/// Exchange between ranks after a stage: sums of moments over the ranks with the same cells of configuration space, and
/// the largest frequencies of all. A single exchange if all ranks have the same cells, because each one synchronises
/// them. A few ranks of one node read each other's values in shared memory, where two messages of 12 KiB took as long
/// as a hundredth of a stage; otherwise reductions.
class RankSums {
 public:
  /// Sums and maxima over the same ranks.
  explicit RankSums(const Comm& comm) : RankSums(comm, comm) {}
  /// Sums over `column`, which is a part of `all`.
  RankSums(const Comm& all, const Comm& column) : all_(all), column_(column) {}

  /// In place: sums of each of `sums`, and the maxima. Bitwise identical on every rank that gets them. Collective, with
  /// the same number of values on each rank. Without `share_memory` always messages.
  void reduce(const std::vector<std::span<double>>& sums, std::span<double> maxima, bool share_memory = true);

 private:
  /// Ranks, and their shared memory.
  struct Group {
    explicit Group(const Comm& c) : comm(c) {}
    const Comm& comm;
    std::int64_t made = -1;  ///< values that the pieces have room for; -1: not allocated yet
    std::unique_ptr<SharedPieces> pieces;
  };
  /// Limit for values that every rank reads from every other.
  static constexpr std::int64_t most_numbers = 1 << 16;
  static void reduce(Group& group, const std::vector<std::span<double>>& sums, std::span<double> maxima,
                     bool share_memory);
  static void through_messages(const Comm& comm, const std::vector<std::span<double>>& sums, std::span<double> maxima);
  static void through_memory(Group& group, const std::vector<std::span<double>>& sums, std::span<double> maxima);

  Group all_, column_;
};

}  // namespace cambium::kinetic
