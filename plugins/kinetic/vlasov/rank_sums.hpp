#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/parallel/shared_pieces.hpp"

namespace cambium::kinetic {

/// What ranks tell each other after a stage: sums of moments and the largest frequencies, together, because each time
/// they wait for each other. A few ranks of one node read each other's numbers in shared memory, where two messages of
/// 12 KiB took as long as a hundredth of a stage; elsewhere two reductions.
class RankSums {
 public:
  explicit RankSums(const Comm& comm) : comm_(comm) {}

  /// Over ranks and in place: sums of each of `sums`, and the maxima. The same bits on every rank. Collective, with as
  /// many numbers on each rank. Without `share_memory` always messages.
  void reduce(const std::vector<std::span<double>>& sums, std::span<double> maxima, bool share_memory = true);

 private:
  /// What is worth reading by every rank from every other.
  static constexpr std::int64_t most_numbers = 1 << 16;
  void through_messages(const std::vector<std::span<double>>& sums, std::span<double> maxima) const;
  void through_memory(const std::vector<std::span<double>>& sums, std::span<double> maxima);

  const Comm& comm_;
  std::int64_t made_ = -1;  ///< numbers that the pieces have room for; -1: not asked for yet
  std::unique_ptr<SharedPieces> pieces_;
};

}  // namespace cambium::kinetic
