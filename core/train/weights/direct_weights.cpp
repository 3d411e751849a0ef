#include "core/train/weights/direct_weights.hpp"

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

void DirectWeights::sum(int slices, const SliceWork& compute) {
  const auto open = [this](int module) { tensors_.open(module); };
  const auto close = [this](int module) { tensors_.close(module); };
  parallel_.reducer->sum(parallel_.gradients, slices, [&](int slice, FlatBuffer& into, const ReadyCallback& ready) {
    compute(slice, tensors_.views(), into.views(), ReadyCallback(ready, open, open, close));
  });
}

double DirectWeights::step(const StepNumbers& numbers) {
  const double norm = parallel_.bound(numbers);
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
