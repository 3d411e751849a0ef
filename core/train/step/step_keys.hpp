#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/optimizers/clip.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/reduce/reducer.hpp"
#include "core/train/step/learning_rate.hpp"
#include "core/train/tables/table_keys.hpp"
#include "core/train/weights/direct_tensors.hpp"
#include "core/train/weights/divided/partition.hpp"

namespace cambium::train {

/// Keys of a training step. A stage or session that trains has these and its own keys.
struct StepKeys {
  deck::Choice<Network> network;
  deck::Choice<Optimizer> optimizer;
  deck::Choice<LearningRate> learning_rate;
  std::optional<WarmUp> warm_up = {};
  std::optional<Clip> clip = {};
  std::optional<Average> average = {};
  ReduceParams reduce = {};
  std::optional<ParallelParams> parallel = {};
  std::optional<DirectParams> direct = {};
  std::optional<TableKeys> tables = {};

  /// For a derived class P: the keys from `optimizer` to `reduce`.
  template <class P>
  static void describe_update(deck::Describe<P>& d) {
    d("optimizer", &P::optimizer, "optimizer").def("adam");
    d("learning_rate", &P::learning_rate, "learning rate schedule over the run");
    d("warm_up", &P::warm_up, "warm-up before the learning rate schedule");
    d("clip", &P::clip, "bounds on the gradient");
    d("ema", &P::average, "moving average of the weights, used for validation and export").formerly("average");
    d("reduce", &P::reduce, "reduction of gradients over micro-batches and ranks");
  }
};

}  // namespace cambium::train
