#include "core/train/weights/device_weights.hpp"

#include <limits>

#include "core/base/error.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/train/optimizers/device_update.hpp"

namespace cambium::train {

struct DeviceWeights::Small {
  View<std::uint8_t*> decays;  ///< for each block of 16 elements, to which tensors are aligned
  View<double*> square;
};

const StepsOnDevice* device_form_of(const Optimizer& optimizer) {
  return dynamic_cast<const StepsOnDevice*>(&optimizer);
}

static View<std::uint8_t*> decays_of(const FlatLayout& layout) {
  constexpr std::int64_t piece = 16;
  std::vector<std::uint8_t> host((layout.size() + piece - 1) / piece, 0);
  for (const auto& tensor : layout.tensors())
    for (std::int64_t at = tensor.offset; at < tensor.offset + tensor.elements; at += piece)
      host[at / piece] = tensor.info.decay;
  View<std::uint8_t*> out("which weights decay", host.size());
  Kokkos::deep_copy(
      out, Kokkos::View<const std::uint8_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()));
  return out;
}

DeviceWeights::DeviceWeights(const ReduceParams& reduce, const std::optional<Average>& average, const Comm& comm,
                             const Network& network, Optimizer& optimizer)
    : weights_type_(network.dtype()), mesh_(comm), layout_(layout_of(reduce, network.parameters(), network.dtype())),
      reducer_(make_reducer(reduce, mesh_, layout_, network.dtype())), optimizer_(optimizer), averaging_(average),
      weights_("weights", layout_, weights_type_), gradients_("gradients", layout_, weights_type_),
      weight_views_(weights_.views()), gradient_views_(gradients_.views()), small_(std::make_unique<Small>()) {
  if (averaging_) average_ = DeviceBuffer("average of the weights", layout_, weights_type_);
  for (const auto& state : states()) states_.emplace_back("state " + state.name, layout_, state.dtype);
  if (!device_form_of(optimizer) || states_.size() > 2) throw InternalError("an optimizer without a form for devices");
  if (comm.size() > 1) summed_ = reducer_->make_buffer(layout_, weights_type_);
  small_->decays = decays_of(layout_);
  small_->square = View<double*>("norm of the gradient", 1);
}

DeviceWeights::~DeviceWeights() = default;

/// Optimizers with a device form have zero initial states.
void DeviceWeights::start(const Use& fill) {
  FlatBuffer host(layout_, weights_type_);
  fill(host);
  weights_.bring(host);
  if (averaging_) average_.bring(host);
}

/// Gradients stay on the device; nothing is sent before all of them are complete.
Pass DeviceWeights::pass() {
  any_ = true;
  return {weight_views_, gradient_views_, [](int) {}};
}

void DeviceWeights::finish() {
  if (!any_) gradients_.zero();
  if (mesh_.world().size() > 1) sum_over_ranks();
}

void DeviceWeights::sum_over_ranks() {
  reducer_->begin(summed_, 1);
  reducer_->next_slice();
  gradients_.fetch(summed_);
  for (std::size_t k = layout_.tensors().size(); k-- > 0;) reducer_->ready(static_cast<int>(k));
  reducer_->finish();
  gradients_.bring(summed_);
}

double DeviceWeights::update(const StepNumbers& numbers) {
  DeviceUpdate u;
  u.dtype = weights_type_;
  u.size = layout_.size();
  u.weights = weights_.data();
  u.gradients = gradients_.data();
  u.average = average_.data();
  for (std::size_t k = 0; k < states_.size(); ++k) u.states[k] = states_[k].data();
  u.decays = small_->decays.data();
  u.factor = numbers.factor;
  u.rate = numbers.rate;
  u.step = numbers.step;
  if (averaging_ && numbers.step > averaging_->from) u.average_decay = averaging_->decay;
  if (numbers.clip) {
    u.value = numbers.clip->value;
    u.norm = numbers.clip->norm;
  }
  if (u.norm) {
    square_on_device(u, small_->square.data());
    u.square = small_->square.data();
  }
  device_form_of(optimizer_)->step_on_device(u);
  return std::numeric_limits<double>::quiet_NaN();
}

void DeviceWeights::whole(const Use& use) {
  FlatBuffer host = trained().fetched();
  use(host);
}

void DeviceWeights::keep_best() {
  if (!best_) best_ = DeviceBuffer("best weights", layout_, weights_type_);
  best_.copy_from(trained());
}

void DeviceWeights::whole_best(const Use& use) {
  FlatBuffer host = best_.fetched();
  use(host);
}

Snapshot DeviceWeights::save(bool with_best) {
  Snapshot out;
  out.weights = weights_.fetched();
  for (const auto& state : states_) out.states.push_back(state.fetched());
  out.average = average_.fetched();
  if (with_best) out.best = best_.fetched();
  out.has_best = with_best;
  return out;
}

void DeviceWeights::load(const std::function<void(Snapshot&)>& read) {
  Snapshot in = save(false);
  in.best = FlatBuffer(layout_, weights_type_);
  read(in);
  weights_.bring(in.weights);
  for (std::size_t k = 0; k < states_.size(); ++k) states_[k].bring(in.states[k]);
  if (averaging_) average_.bring(in.average);
  if (!in.has_best) return;
  keep_best();
  best_.bring(in.best);
}

}  // namespace cambium::train
