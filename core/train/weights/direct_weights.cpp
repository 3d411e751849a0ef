#include "core/train/weights/direct_weights.hpp"

#include "core/train/optimizers/bounded_gradient.hpp"

namespace cambium::train {

DirectWeights::DirectWeights(const DirectParams& direct, const ReduceParams& reduce, std::uint64_t seed,
                             const Comm& comm, const Network& network, Optimizer& optimizer)
    : parallel_(reduce, comm, network, optimizer), optimizer_(optimizer),
      tensors_(direct, network, optimizer, parallel_.layout, seed) {
  std::int64_t states = 0;
  for (const auto& state : parallel_.states) states += state.bytes();
  counted_.emplace_back(tensors_.memory(), Held::gradients, parallel_.gradients.bytes());
  counted_.emplace_back(tensors_.memory(), Held::states, states);
}

void DirectWeights::start(const Use& fill) {
  auto first = copy();
  fill(first.numbers);
  tensors_.start(first.numbers);
}

void DirectWeights::start_on(std::span<const Grid> grids, const Use& fill) {
  const auto steps = steps_on(grids, tensors_.limit());
  if (steps.size() != tensors_.steps().size()) return start(fill);
  auto first = copy();
  fill(first.numbers);
  tensors_.take(first.numbers, steps);
}

void DirectWeights::begin(int slices) { parallel_.reducer->begin(parallel_.gradients, slices); }

Pass DirectWeights::pass() {
  const auto ready = [this](int tensor) { parallel_.reducer->ready(tensor); };
  const auto open = [this](int module) { tensors_.open(module); };
  const auto close = [this](int module) { tensors_.close(module); };
  parallel_.reducer->next_slice();
  return {tensors_.views(), parallel_.views, ReadyCallback(ready, open, open, close)};
}

void DirectWeights::skip() { parallel_.reducer->next_slice(); }

void DirectWeights::finish() { parallel_.reducer->finish(); }

double DirectWeights::update(const StepNumbers& numbers) {
  const double norm = bound_gradient(parallel_.gradients, numbers.factor, numbers.clip, optimizer_.groups());
  tensors_.step(optimizer_, parallel_.gradients, parallel_.states, numbers.rate, numbers.step);
  flips_.add(tensors_.changed());
  return norm;
}

void DirectWeights::whole(const Use& use) {
  auto all = copy();
  tensors_.copy_to(all.numbers);
  use(all.numbers);
}

void DirectWeights::whole_best(const Use& use) {
  auto all = copy();
  tensors_.copy_best_to(all.numbers);
  use(all.numbers);
}

static FlatBuffer keep_counted(WholeCopy copy, Snapshot& in) {
  in.counted.push_back(std::move(copy.counted));
  return std::move(copy.numbers);
}

Snapshot DirectWeights::save(bool with_best) {
  Snapshot out;
  out.weights = keep_counted(copy(), out);
  tensors_.copy_to(out.weights);
  out.has_best = with_best;
  if (with_best) {
    out.best = keep_counted(copy(), out);
    tensors_.copy_best_to(out.best);
  }
  out.grids = tensors_.steps();
  out.states = parallel_.state_views();
  return out;
}

void DirectWeights::load(const std::function<void(Snapshot&)>& read) {
  Snapshot in;
  in.weights = keep_counted(copy(), in);
  in.best = keep_counted(copy(), in);
  in.grids = tensors_.steps();
  in.states = parallel_.state_views();
  read(in);
  tensors_.take(in.weights, in.grids);
  if (in.has_best) tensors_.take_best(in.best);
}

std::vector<double> DirectWeights::figures(std::int64_t steps) {
  return flips_.figures(steps, [this](double count) { return share(count); });
}

std::vector<std::string> DirectWeights::report() {
  auto lines = tensors_.memory_report();
  lines.push_back(flips_.line([this](double count) { return share(count); }));
  return lines;
}

}  // namespace cambium::train
