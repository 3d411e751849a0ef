#pragma once
#include <span>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Interface of a network with modules() whose weights can be drawn, validated and written while a rank holds its share
/// and one module. Its initialise() passes over views without memory and draws the same numbers whichever are there,
/// and its export_model() writes no files.
class WorksByModule {
 public:
  virtual ~WorksByModule() = default;
  /// Network::evaluate() in one forward pass: the weights of a module have memory from ready.forward() to
  /// ready.release() alone, each called once in ascending order. `loss` as GivesLoss::add_loss(); empty where that is
  /// not asked for. The same bits as of those two. Never called without samples.
  virtual void evaluate_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                                  const ReadyCallback& ready, std::span<TermSum> metrics, std::span<TermSum> loss) = 0;
};

}  // namespace cambium::train
