#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/works_by_module.hpp"
#include "core/train/tables/tables.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// A data set for validation only. Blocks of `batch` samples are assigned to ranks; each rank caches its samples if
/// they fit into 1 GB.
class Validation {
 public:
  Validation(Dataset& data, std::int64_t batch) : data_(data), batch_(batch) {}
  /// Collective: sums of the network's metrics over all samples, bitwise identical for any number of ranks. `tables`:
  /// those of the network, if any. `terms`: receives the sums of the loss terms if the network GivesLoss.
  std::vector<TermSum> evaluate(Network& network, std::span<const TensorRef> weights, const Comm& comm,
                                Tables* tables = nullptr, std::vector<TermSum>* terms = nullptr);
  /// The same, bitwise, for a network that WorksByModule with sharded weights (ByModule::forward()).
  std::vector<TermSum> evaluate_by_module(Network& network, const Pass& pass, const Comm& comm,
                                          std::vector<TermSum>* terms = nullptr);

 private:
  using Judge = std::function<void(std::span<const SamplePtr>, std::span<TermSum> metrics, std::span<TermSum> loss)>;
  std::vector<TermSum> sums(const Network& network, bool loss, const Comm& comm, std::vector<TermSum>* terms,
                            const Judge& judge);
  std::vector<SamplePtr> block(std::int64_t k);

  Dataset& data_;
  std::int64_t batch_, kept_bytes_ = 0;
  std::vector<std::vector<SamplePtr>> kept_;  ///< by block, empty if not cached
};

}  // namespace cambium::train
