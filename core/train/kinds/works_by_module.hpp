#pragma once
#include <span>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Interface of a network with modules() whose weights can be initialised, validated, written and run while a rank
/// stores only its shard and one module. Its initialise() skips views without memory and draws the same values
/// whichever views are present; its export_model() writes no files.
///
/// A pass calls ready.forward() and ready.release() once for each module, in ascending order; the module's weights are
/// in memory in between.
class WorksByModule {
 public:
  virtual ~WorksByModule() = default;
  /// False if the keys or data require all weights at once.
  virtual bool works_by_module() const { return true; }
  /// Passes that evaluate_by_module() makes for this number of samples.
  virtual std::int64_t passes(std::int64_t /*samples*/) const { return 1; }
  /// Network::evaluate() in passes(samples). `loss` as in GivesLoss::add_loss(); empty if not requested. Bitwise
  /// identical to those two functions. Never called without samples.
  virtual void evaluate_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                                  const ReadyCallback& ready, std::span<TermSum> metrics, std::span<TermSum> loss) = 0;
  /// Network::infer() in any number of passes, bitwise identical; for networks with outputs(). Never called without
  /// samples.
  virtual void infer_by_module(std::span<const SamplePtr> /*samples*/, std::span<const TensorRef> /*weights*/,
                               const ReadyCallback& /*ready*/, std::span<const TensorRef> /*outputs*/) {}
};

/// True if the network implements it, with its keys and data.
inline bool works_by_module(Network& network) {
  const WorksByModule* const by_module = network.traits().modules;
  return by_module && by_module->works_by_module() && !network.modules().empty();
}

}  // namespace cambium::train
