#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/train/reduce/traffic.hpp"

namespace cambium::train {

/// A few numbers for every sample of a data set, divided among ranks: those of the sample `id` lie on rank id mod
/// ranks. What was never stored is 0. Rows travel between the rank where they lie and the one that computes the sample,
/// and nowhere else.
class SampleRows {
 public:
  /// `comm` outlives this.
  SampleRows(int columns, const Comm& comm) : columns_(columns), comm_(comm) {}
  int columns() const { return columns_; }

  /// Collective: rows of these samples, one after the other; each rank asks for its own, none of them twice.
  std::vector<double> fetch(std::span<const std::int64_t> ids, Traffic& traffic);
  /// Collective: new rows of the samples that the last fetch() asked for, in the same order.
  void store(std::span<const double> rows, Traffic& traffic);

  /// Collective: all rows up to the last one stored on any rank, on every rank.
  std::vector<double> whole() const;
  /// Takes what whole() gave, on any number of ranks.
  void set_whole(std::span<const double> rows);

 private:
  std::size_t place(std::int64_t id);
  std::vector<double> swapped(std::span<const double> rows, std::span<const int> sent, std::span<const int> received,
                              Traffic& traffic) const;

  int columns_;
  const Comm& comm_;
  std::vector<double> own_;  ///< rows of the samples rank, rank + ranks, ...
  // For the last fetch().
  std::vector<std::size_t> order_;   ///< which of its ids came k-th when they are sorted by rank
  std::vector<int> asked_, served_;  ///< samples asked of each rank, and by each rank
  std::vector<std::int64_t> served_ids_;
};

}  // namespace cambium::train
