#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::train {

/// Which samples make up each global batch, and which rank computes them. A pure function of the seed: every rank,
/// every restart and every number of ranks sees the same batches.
struct BatchPlan {
  std::uint64_t seed = 1;
  std::int64_t samples = 0;  ///< of the data set
  std::int64_t batch = 1;    ///< samples of a global batch; the last one of an epoch holds what is left
  /// ordered: the global batch is cut into `slices`, whatever the number of ranks. Otherwise each rank cuts its own
  /// share into `slices` (gradient accumulation).
  bool ordered = false;
  int slices = 1;
  /// Ranks of one run of numbers take turns slice by slice; runs follow one another. 1: a rank's slices lie together.
  int turns = 1;
  int rank = 0, ranks = 1;
  std::int64_t steps = 0;  ///< of the whole run: how far the order is known in advance

  std::int64_t steps_per_epoch() const { return (samples + batch - 1) / batch; }
  /// Slices of a global batch; those of a rank, as many on every rank; and the number of a rank's k-th among them.
  /// Where the ranks do not divide an ordered batch's slices, some numbers lie beyond the last one and hold no samples.
  std::int64_t all_slices() const { return ordered ? slices : static_cast<std::int64_t>(slices) * ranks; }
  std::int64_t own_slices() const { return (all_slices() + ranks - 1) / ranks; }
  std::int64_t slice_number(std::int64_t k) const { return (rank / turns * own_slices() + k) * turns + rank % turns; }
  std::int64_t epoch_of(std::int64_t step) const { return step / steps_per_epoch(); }
};

/// The order of an epoch: a permutation of 0..samples-1 (Fisher and Yates), addressed by (seed, epoch).
std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::int64_t epoch, std::int64_t samples);

/// Numbers of the samples of one global batch, given its epoch's order.
std::span<const std::int64_t> batch_of(const BatchPlan& plan, std::span<const std::int64_t> order, std::int64_t step);

/// This rank's slices of a global batch, as [first, last) within it. Slice k of n holds [b k / n, b (k + 1) / n) of
/// b samples, so sizes differ by one at most and may be zero. Same number of slices on every rank.
std::vector<std::pair<std::int64_t, std::int64_t>> slices_of(const BatchPlan& plan, std::int64_t batch_size);

}  // namespace cambium::train
