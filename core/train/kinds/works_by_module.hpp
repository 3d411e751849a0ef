#pragma once
#include <span>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Interface of a network with modules() whose weights can be drawn, validated, written and run while a rank holds its
/// share and one module. Its initialise() passes over views without memory and draws the same numbers whichever are
/// there, and its export_model() writes no files.
///
/// A pass calls ready.forward() and ready.release() once for each module, in ascending order: between them its weights
/// have memory.
class WorksByModule {
 public:
  virtual ~WorksByModule() = default;
  /// False for keys or data with which this network needs all weights at once after all.
  virtual bool works_by_module() const { return true; }
  /// Passes that evaluate_by_module() makes for so many samples.
  virtual std::int64_t passes(std::int64_t /*samples*/) const { return 1; }
  /// Network::evaluate() in passes(samples). `loss` as GivesLoss::add_loss(); empty where that is not asked for. The
  /// same bits as of those two. Never called without samples.
  virtual void evaluate_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                                  const ReadyCallback& ready, std::span<TermSum> metrics, std::span<TermSum> loss) = 0;
  /// Network::infer() in any number of passes, with the same bits; of networks with outputs(). Never called without
  /// samples.
  virtual void infer_by_module(std::span<const SamplePtr> /*samples*/, std::span<const TensorRef> /*weights*/,
                               const ReadyCallback& /*ready*/, std::span<const TensorRef> /*outputs*/) {}
};

/// True if the network is one, with its keys and data.
inline bool works_by_module(const Network& network) {
  const auto* const by_module = dynamic_cast<const WorksByModule*>(&network);
  return by_module && by_module->works_by_module() && !network.modules().empty();
}

}  // namespace cambium::train
