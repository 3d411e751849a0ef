#pragma once
#include <memory>

#include "core/train/step/step_keys.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// InputError when the ranks that run cannot add gradients, or divide weights, as the keys say.
void require_ranks(const StepKeys& keys, const Context& context);

/// Collective. The only place that knows which kinds of weights there are. The network knows its sizes; the optimizer
/// and the communicator outlive the weights. `slice`: samples of a slice of a training that may lie on a device; 0 of
/// one that may not. InputError when there is no room for them, or the network or the optimizer
/// cannot be trained so.
std::unique_ptr<Weights> make_weights(const StepKeys& keys, std::uint64_t seed, Network& network, Optimizer& optimizer,
                                      std::int64_t slice, Context& context);

}  // namespace cambium::train
