#include "core/train/weights/divided/divided_weights.hpp"

namespace cambium::train {

DividedWeights::DividedWeights(const Partition& partition, const Comm& comm, Network& network, Optimizer& optimizer,
                               const DivideSettings& settings)
    : parts_(partition, comm, network, optimizer, settings), windows_(parts_), gradients_(parts_),
      step_(parts_, optimizer), copies_(parts_), pieces_(parts_, copies_), modules_(parts_, copies_, step_) {}

/// The initial weights of direct training determine the grids; the optimizer needs no start.
void DividedWeights::start(const Use& fill) {
  auto first = copies_.empty();
  fill(first.numbers);
  auto& packed = parts_.form.packed;
  if (packed) packed->fix_grids(first.numbers, parts_.settings.direct->range);
  copies_.take_weights(first.numbers);
  if (!packed) step_.start(first.numbers);
}

void DividedWeights::start_on(std::span<const Grid> grids, const Use& fill) {
  auto& packed = parts_.form.packed;
  const auto steps = packed ? steps_on(grids, packed->limit()) : std::vector<double>();
  if (!packed || steps.size() != packed->steps().size()) return start(fill);
  auto first = copies_.empty();
  fill(first.numbers);
  packed->set_steps(steps);
  copies_.take_weights(first.numbers);
}

std::vector<Grid> DividedWeights::grids() const {
  std::vector<Grid> out;
  if (const auto& packed = parts_.form.packed)
    for (const double step : packed->steps()) out.push_back({packed->limit(), static_cast<float>(step)});
  return out;
}

void DividedWeights::go_on() {
  gradients_.advance();
  windows_.advance();
}

/// Callbacks for a network that computes a slice.
ReadyCallback DividedWeights::callback() {
  const auto ready = [this](int tensor) {
    if (gradients_.ready(tensor)) go_on();
  };
  const auto forward = [this](int module) {
    go_on();
    windows_.forward(module);
  };
  const auto backward = [this](int module) {
    go_on();
    windows_.backward(module);
    gradients_.backward(module);
  };
  const auto release = [this](int module) {
    go_on();
    windows_.release(module);
  };
  return ReadyCallback(ready, forward, backward, release);
}

/// Joins the collective exchanges of the other ranks in their order, for a slice without samples.
static void take_part_without_samples(const std::vector<int>& module_first, const ReadyCallback& callback) {
  const int modules = static_cast<int>(module_first.size()) - 1;
  for (int m = 0; m < modules; ++m) {
    callback.forward(m);
    callback.release(m);
  }
  for (int m = modules - 1; m >= 0; --m) {
    const auto at = static_cast<std::size_t>(m);
    callback.backward(m);
    for (int k = module_first[at + 1] - 1; k >= module_first[at]; --k) callback(k);
    callback.release(m);
  }
}

void DividedWeights::begin(int slices) {
  slice_ = -1;
  gradients_.begin(slices);
  windows_.begin(slices);
}

void DividedWeights::next_slice() {
  if (slice_ >= 0) gradients_.end_slice();
  ++slice_;
  gradients_.next_slice(slice_);
  windows_.next_slice(slice_);
}

Pass DividedWeights::pass() {
  next_slice();
  return {windows_.views(), gradients_.views(), callback()};
}

void DividedWeights::skip() {
  next_slice();
  take_part_without_samples(parts_.module_first, callback());
}

void DividedWeights::finish() {
  if (slice_ >= 0) gradients_.end_slice();
  windows_.end();
  gradients_.finish();
}

double DividedWeights::update(const StepNumbers& numbers) {
  const double norm = step_.step(numbers);
  flips_.add(step_.changed());
  return norm;
}

void DividedWeights::whole(const Use& use) {
  auto all = copies_.served();
  use(all.numbers);
}

void DividedWeights::whole_best(const Use& use) {
  auto all = copies_.best();
  use(all.numbers);
}

static FlatBuffer count_in(Snapshot& in, WholeCopy copy) {
  in.counted.push_back(std::move(copy.counted));
  return std::move(copy.numbers);
}

Snapshot DividedWeights::save(bool with_best) {
  Snapshot out;
  if (parts_.form.packed) out.grids = parts_.form.packed->steps();
  out.weights = count_in(out, copies_.weights());
  for (std::size_t k = 0; k < parts_.infos.size(); ++k) out.states.push_back(count_in(out, copies_.state(k)));
  if (parts_.settings.average) out.average = count_in(out, copies_.average());
  out.has_best = with_best;
  if (with_best) out.best = count_in(out, copies_.best());
  return out;
}

void DividedWeights::load(const std::function<void(Snapshot&)>& read) {
  auto& packed = parts_.form.packed;
  Snapshot in;
  in.weights = count_in(in, copies_.empty());
  in.best = count_in(in, copies_.empty());
  if (parts_.settings.average) in.average = count_in(in, copies_.empty());
  for (const auto& info : parts_.infos) in.states.push_back(count_in(in, copies_.empty(info.dtype)));
  if (packed) in.grids = packed->steps();
  read(in);
  if (packed) packed->set_steps(in.grids);
  copies_.take_weights(in.weights);
  for (std::size_t k = 0; k < in.states.size(); ++k) copies_.take_state(k, in.states[k]);
  if (parts_.settings.average) copies_.take_average(in.average);
  if (in.has_best) copies_.take_best(in.best);
}

/// Collective. Fraction of all direct weights, given a number of weights in this rank's part.
double DividedWeights::share(double count) const {
  double sum[] = {count};
  for (int level = 0; level < parts_.partition.states; ++level)
    parts_.mesh.along(static_cast<std::size_t>(level)).sum(std::span<double>(sum));
  return sum[0] / static_cast<double>(parts_.form.packed->linear_numbers());
}

std::vector<io::Column> DividedWeights::columns() const {
  return parts_.form.packed ? Flips::columns() : std::vector<io::Column>{};
}

std::vector<double> DividedWeights::figures(std::int64_t steps) {
  if (!parts_.form.packed) return {};
  return flips_.figures(steps, [this](double count) { return share(count); });
}

std::vector<std::string> DividedWeights::report() {
  auto lines = parts_.memory_report();
  if (parts_.form.packed) lines.push_back(flips_.line([this](double count) { return share(count); }));
  return lines;
}

}  // namespace cambium::train
