#include "core/train/weights/whole_weights.hpp"

#include "core/train/optimizers/bounded_gradient.hpp"

namespace cambium::train {

WholeWeights::WholeWeights(const ReduceParams& reduce, const std::optional<Average>& average, const Comm& comm,
                           const Network& network, Optimizer& optimizer)
    : parallel_(reduce, comm, network, optimizer), optimizer_(optimizer), averaging_(average),
      weights_(parallel_.layout, network.dtype()), views_(weights_.views()) {
  if (averaging_) average_ = FlatBuffer(parallel_.layout, network.dtype());
}

void WholeWeights::start(const Use& fill) {
  fill(weights_);
  optimizer_.start(weights_, parallel_.states);
  if (averaging_) average_.copy_from(weights_);
}

FlatBuffer& WholeWeights::served() {
  if (averaging_) return average_;
  const auto state = optimizer_.served_state();
  return state ? parallel_.states[*state] : weights_;
}

void WholeWeights::begin(int slices) { parallel_.reducer->begin(parallel_.gradients, slices); }

Pass WholeWeights::pass() {
  parallel_.reducer->next_slice();
  return {views_, parallel_.views, [this](int tensor) { parallel_.reducer->ready(tensor); }};
}

void WholeWeights::skip() { parallel_.reducer->next_slice(); }

void WholeWeights::finish() { parallel_.reducer->finish(); }

double WholeWeights::update(const StepNumbers& numbers) {
  const double norm = bound_gradient(parallel_.gradients, numbers.factor, numbers.clip, optimizer_.groups());
  optimizer_.step({weights_, parallel_.gradients, parallel_.states, numbers.rate, numbers.step});
  if (averaging_) averaging_->update(average_, weights_, numbers.step);
  return norm;
}

void WholeWeights::make_best() {
  if (best_.bytes() == 0) best_ = FlatBuffer(parallel_.layout, weights_.dtype());
}

void WholeWeights::keep_best() {
  make_best();
  best_.copy_from(served());
}

Snapshot WholeWeights::save(bool with_best) {
  Snapshot out;
  out.weights = weights_.view();
  out.states = parallel_.state_views();
  out.average = average_.view();
  out.best = best_.view();
  out.has_best = with_best;
  return out;
}

/// Reads files in place.
void WholeWeights::load(const std::function<void(Snapshot&)>& read) {
  make_best();
  Snapshot in = save(false);
  read(in);
}

}  // namespace cambium::train
