#pragma once
#include <memory>

#include "core/train/step/step_keys.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// InputError if the number of ranks does not allow the reduction or sharding that the keys specify.
void require_ranks(const StepKeys& keys, const Context& context);

/// Collective. The only function that knows all kinds of weights. The network must know its sizes; the optimizer and
/// the communicator must outlive the weights. `slice`: samples per slice of a training that may run on a device; 0 if
/// it may not. InputError if memory is insufficient, or if the network or the optimizer does not support these keys.
std::unique_ptr<Weights> make_weights(const StepKeys& keys, std::uint64_t seed, Network& network, Optimizer& optimizer,
                                      std::int64_t slice, Context& context);

}  // namespace cambium::train
