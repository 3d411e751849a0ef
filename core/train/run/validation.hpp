#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/works_by_module.hpp"
#include "core/train/tables/tables.hpp"
#include "core/train/weights/weights.hpp"

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
  /// The same bits, of a network that WorksByModule with weights that come and go (ByModule::forward()).
  std::vector<TermSum> evaluate_by_module(Network& network, const Pass& pass, const Comm& comm,
                                          std::vector<TermSum>* terms = nullptr);

 private:
  using Judge = std::function<void(std::span<const SamplePtr>, std::span<TermSum> metrics, std::span<TermSum> loss)>;
  std::vector<TermSum> sums(const Network& network, bool loss, const Comm& comm, std::vector<TermSum>* terms,
                            const Judge& judge);
  std::vector<SamplePtr> block(std::int64_t k);

  Dataset& data_;
  std::int64_t batch_, kept_bytes_ = 0;
  std::vector<std::vector<SamplePtr>> kept_;  ///< by block, empty where not kept
};

}  // namespace cambium::train
