#include "core/train/step/make_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/parallel/memory.hpp"
#include "core/train/kinds/trains_on_device.hpp"
#include "core/train/weights/device_weights.hpp"
#include "core/train/weights/direct_weights.hpp"
#include "core/train/weights/divided/divided_weights.hpp"
#include "core/train/weights/whole_weights.hpp"

namespace cambium::train {

void require_ranks(const StepKeys& keys, const Context& context) {
  require_ranks(keys.reduce, context.comm.size());
  // A deck may be checked on fewer ranks than it requires.
  if (keys.parallel && !context.dry_run) partition_of(*keys.parallel, context.comm.size());
}

/// Checks memory for weights, gradients, the optimizer's states, an average and the best weights.
static void require_room_for_weights(const StepKeys& keys, const Network& network, const Optimizer& optimizer,
                                     Context& context) {
  double numbers = 0.0, states = 0.0;
  for (const auto& parameter : network.parameters())
    numbers += std::accumulate(parameter.shape.begin(), parameter.shape.end(), 1.0, std::multiplies<>());
  for (const auto& state : optimizer.states(network.dtype())) states += static_cast<double>(size_of(state.dtype));
  const double copies = 2.0 + (keys.average ? 1.0 : 0.0);
  double bytes = numbers * (copies * static_cast<double>(size_of(network.dtype())) + states);
  if (keys.parallel)
    bytes /= context.comm.size();
  else if (keys.direct)
    bytes = numbers / 4.0;
  require_memory(bytes, fmt::format("training {:.4g} parameters", numbers),
                 "make the model smaller, or divide it among ranks of more nodes (parallel)", context);
}

static std::unique_ptr<Weights> make_divided(const StepKeys& keys, Network& network, Optimizer& optimizer,
                                             Context& context) {
  const auto partition = partition_of(*keys.parallel, context.comm.size(), keys.reduce.codec);
  DivideSettings settings;
  settings.ordered = keys.reduce.mode == ReduceParams::Mode::ordered;
  settings.overlap = keys.reduce.overlap;
  settings.slices = keys.reduce.slices;
  settings.direct = keys.direct;
  settings.average = keys.average;
  settings.group_elements =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(keys.reduce.group) / size_of(network.dtype()));
  auto weights = std::make_unique<DividedWeights>(partition, context.comm, network, optimizer, settings);
  const auto ranks = [&](int depth) { return parts_of(weights->mesh(), depth); };
  context.log.info(fmt::format("sharded: weights by {}, gradients by {}, states by {} of {} ranks",
                               ranks(partition.weights), ranks(partition.gradients), ranks(partition.states),
                               context.comm.size()));
  return weights;
}

/// Reason why weights of a network that supports the device stay in host memory.
static std::string kept_on_host(const StepKeys& keys, const Optimizer& optimizer) {
  if (keys.parallel) return "parallel shards them over ranks";
  if (keys.direct) return "quantized_training stores them in few bits";
  if (keys.reduce.mode == ReduceParams::Mode::ordered) return "reduce.mode ordered adds micro-batches there";
  if (!optimizer.groups().empty()) return "optimizer.groups has no form for a device";
  if (!device_form_of(optimizer))
    return fmt::format("the optimizer {} has no form for a device; adam, adamw and sgd have", keys.optimizer.type);
  return {};
}

/// Logs a message if weights are copied to a device and back in each step.
static bool belong_on_device(const StepKeys& keys, Network& network, const Optimizer& optimizer, std::int64_t slice,
                             Log& log) {
  TrainsOnDevice* const there = network.traits().device;
  if (slice == 0 || !there || !there->belongs_on_device(slice)) return false;
  const auto why = kept_on_host(keys, optimizer);
  if (!why.empty()) log.info(fmt::format("weights stay in host memory and pass to the kernels in each step: {}", why));
  return why.empty();
}

std::unique_ptr<Weights> make_weights(const StepKeys& keys, std::uint64_t seed, Network& network, Optimizer& optimizer,
                                      std::int64_t slice, Context& context) {
  if (keys.average && optimizer.served_state())
    throw KeyError("train.average.optimizer", "ema",
                   fmt::format("the optimizer {} averages the weights itself, and these means are validated and "
                               "exported; remove ema",
                               keys.optimizer.type));
  require_room_for_weights(keys, network, optimizer, context);
  if (!optimizer.groups().empty()) require_matches(optimizer.groups(), network.parameters());
  if (belong_on_device(keys, network, optimizer, slice, context.log))
    return std::make_unique<DeviceWeights>(keys.reduce, keys.average, context.comm, network, optimizer);
  if (keys.parallel) return make_divided(keys, network, optimizer, context);
  if (keys.direct)
    return std::make_unique<DirectWeights>(*keys.direct, keys.reduce, seed, context.comm, network, optimizer);
  return std::make_unique<WholeWeights>(keys.reduce, keys.average, context.comm, network, optimizer);
}

}  // namespace cambium::train
