#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/reduce/traffic.hpp"

namespace cambium::train {

/// A few values for every sample of a data set, distributed over ranks: those of sample `id` are on rank id mod ranks.
/// Values never stored are 0. Rows are only sent between the rank that stores them and the one that computes the
/// sample.
class SampleRows {
 public:
  /// `comm` must outlive this.
  SampleRows(int columns, const Comm& comm) : columns_(columns), comm_(comm) {}
  int columns() const { return columns_; }

  /// Collective: rows of these samples, concatenated; each rank requests its own, none of them twice.
  std::vector<double> fetch(std::span<const std::int64_t> ids, Traffic& traffic);
  /// Collective: stores new rows of the samples of the last fetch(), in the same order.
  void store(std::span<const double> rows, Traffic& traffic);

  /// Collective: all rows up to the last one stored on any rank, on every rank.
  std::vector<double> whole() const;
  /// Restores the result of whole(), on any number of ranks.
  void set_whole(std::span<const double> rows);

 private:
  std::size_t place(std::int64_t id);
  std::vector<double> swapped(std::span<const double> rows, std::span<const int> sent, std::span<const int> received,
                              Traffic& traffic) const;

  int columns_;
  const Comm& comm_;
  std::vector<double> own_;  ///< rows of the samples rank, rank + ranks, ...
  // For the last fetch().
  std::vector<std::size_t> order_;   ///< permutation of its ids sorted by rank
  std::vector<int> asked_, served_;  ///< numbers of samples requested from each rank, and by each rank
  std::vector<std::int64_t> served_ids_;
};

}  // namespace cambium::train
