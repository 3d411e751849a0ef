#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::train {

/// Assignment of samples to global batches and ranks. A pure function of the seed: batches are the same on every rank,
/// after every restart and for any number of ranks.
struct BatchPlan {
  std::uint64_t seed = 1;
  std::int64_t samples = 0;  ///< of the data set
  std::int64_t batch = 1;    ///< samples of a global batch; the last one of an epoch may be smaller
  /// ordered: the global batch is split into `slices`, whatever the number of ranks. Otherwise each rank splits its
  /// local batch into `slices` (gradient accumulation).
  bool ordered = false;
  int slices = 1;
  /// Consecutive ranks whose slices are interleaved; groups of that many ranks follow one another. 1: the slices of a
  /// rank are contiguous.
  int turns = 1;
  int rank = 0, ranks = 1;
  std::int64_t steps = 0;  ///< of the run: how far the order is known in advance
  /// Order of an epoch: stored, by Fisher and Yates, or computed position by position, by FeistelOrder. They differ.
  enum class Permutation { stored, computed };
  Permutation permutation = Permutation::stored;

  std::int64_t steps_per_epoch() const { return (samples + batch - 1) / batch; }
  /// Slices of a global batch; slices per rank, the same on every rank; and the index of a rank's k-th slice. If the
  /// ranks do not divide the slices of an ordered batch, some indices exceed the last slice and hold no samples.
  std::int64_t all_slices() const { return ordered ? slices : static_cast<std::int64_t>(slices) * ranks; }
  std::int64_t own_slices() const { return (all_slices() + ranks - 1) / ranks; }
  std::int64_t slice_number(std::int64_t k) const { return (rank / turns * own_slices() + k) * turns + rank % turns; }
  std::int64_t epoch_of(std::int64_t step) const { return step / steps_per_epoch(); }
};

/// The order of an epoch: a permutation of 0..samples-1 (Fisher and Yates), addressed by (seed, epoch). T holds every
/// index: std::int64_t or, for fewer than 2^32 samples, std::uint32_t.
template <class T>
std::vector<T> shuffled(std::uint64_t seed, std::int64_t epoch, std::int64_t samples);
std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::int64_t epoch, std::int64_t samples);

/// Indices of the samples of one global batch, given its epoch's order.
std::span<const std::int64_t> batch_of(const BatchPlan& plan, std::span<const std::int64_t> order, std::int64_t step);

/// This rank's slices of a global batch, as [first, last) within it. Slice k of n holds [b k / n, b (k + 1) / n) of
/// b samples, so sizes differ by one at most and may be zero. Same number of slices on every rank.
std::vector<std::pair<std::int64_t, std::int64_t>> slices_of(const BatchPlan& plan, std::int64_t batch_size);

}  // namespace cambium::train
