#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/optimizers/clip.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/reduce/reducer.hpp"
#include "core/train/step/learning_rate.hpp"
#include "core/train/tables/table_keys.hpp"
#include "core/train/weights/direct_tensors.hpp"
#include "core/train/weights/divided/partition.hpp"

namespace cambium::train {

/// What a deck says of a training step: the keys of these names.
struct StepKeys {
  deck::Choice<Optimizer> optimizer;
  deck::Choice<LearningRate> learning_rate;
  std::optional<WarmUp> warm_up = {};
  std::optional<Clip> clip = {};
  std::optional<Average> average = {};
  ReduceParams reduce = {};
  std::optional<ParallelParams> parallel = {};
  std::optional<DirectParams> direct = {};
  std::optional<TableKeys> tables = {};
};

}  // namespace cambium::train
