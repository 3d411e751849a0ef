#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// What the log shows of a term: report(sum / count); NaN when nothing was counted.
double reported(const TermInfo& info, const TermSum& sum);

/// Sums over the rows of a table that ranks have added up (each row filled by one rank, zeros elsewhere), in the rows'
/// order, so that they do not depend on the number of ranks.
std::vector<TermSum> add_rows(std::span<const TermSum> table, std::size_t terms);
/// The weighted loss of a batch: sum over the terms of weight x sum / count, each term's mean being over what it
/// counts (frames that have an energy, say). Terms that counted nothing add nothing.
double weighted_loss(std::span<const double> weights, std::span<const TermSum> sums);
/// A table's numbers, for a sum over ranks.
std::span<double> numbers_of(std::span<TermSum> table);

/// A data set that is only looked at. Blocks of `batch` samples are dealt out to the ranks; each rank keeps its samples
/// in memory while they fit 1 GB.
class Validation {
 public:
  Validation(Dataset& data, std::int64_t batch) : data_(data), batch_(batch) {}
  /// Collective: sums of the network's metrics over all samples, the same bits for any number of ranks.
  std::vector<TermSum> evaluate(Network& network, std::span<const TensorRef> weights, const Comm& comm);

 private:
  std::vector<SamplePtr> block(std::int64_t k);

  Dataset& data_;
  std::int64_t batch_, kept_bytes_ = 0;
  std::vector<std::vector<SamplePtr>> kept_;  ///< by block, empty where not kept
};

}  // namespace cambium::train
