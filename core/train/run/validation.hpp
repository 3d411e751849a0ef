#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/tables/tables.hpp"

namespace cambium::train {

/// A data set that is only looked at. Blocks of `batch` samples are dealt out to the ranks; each rank keeps its samples
/// in memory while they fit 1 GB.
class Validation {
 public:
  Validation(Dataset& data, std::int64_t batch) : data_(data), batch_(batch) {}
  /// Collective: sums of the network's metrics over all samples, the same bits for any number of ranks.
  /// `tables`: those of a network that has some. `terms`: becomes the sums of the terms of the loss of one that
  /// GivesLoss.
  std::vector<TermSum> evaluate(Network& network, std::span<const TensorRef> weights, const Comm& comm,
                                Tables* tables = nullptr, std::vector<TermSum>* terms = nullptr);

 private:
  std::vector<SamplePtr> block(std::int64_t k);

  Dataset& data_;
  std::int64_t batch_, kept_bytes_ = 0;
  std::vector<std::vector<SamplePtr>> kept_;  ///< by block, empty where not kept
};

}  // namespace cambium::train
