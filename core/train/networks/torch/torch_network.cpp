#include "core/train/networks/torch/torch_network.hpp"

#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/train/kinds/gives_loss.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "core/train/networks/torch/operator_regions.hpp"
#include "core/train/networks/torch/rank_layers.hpp"
#include "core/train/networks/torch/saved_tensors.hpp"
#include "core/train/networks/torch/segments.hpp"

namespace cambium::train {

/// Reports once that a parameter's gradient is final.
class Announcer {
 public:
  void begin(const ReadyCallback& ready, std::size_t parameters) {
    ready_ = &ready;
    told_.assign(parameters, false);
  }
  void tell(std::size_t k) {
    if (!ready_ || told_[k]) return;
    told_[k] = true;
    if (*ready_) (*ready_)(static_cast<int>(k));
  }
  /// Parameters that are not part of the loss have no gradient to wait for.
  void end() {
    for (std::size_t k = 0; k < told_.size(); ++k) tell(k);
    ready_ = nullptr;
  }

 private:
  const ReadyCallback* ready_ = nullptr;
  std::vector<bool> told_;
};

namespace {

/// Enables bfloat16 for matrix products and convolutions during its lifetime.
class Autocast {
 public:
  explicit Autocast(bool on) : on_(on) {
    if (!on_) return;
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(true);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(false);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool on_;
};

/// Rethrows exceptions of Torch without their stack trace.
template <class F>
void calling_torch(F&& f) {
  try {
    f();
  } catch (const InputError&) {
    throw;
  } catch (const NumericalError&) {
    throw;
  } catch (const c10::Error& error) {
    throw InternalError(fmt::format("Torch refused: {}", error.what_without_backtrace()));
  } catch (const std::runtime_error& error) {
    throw InternalError(fmt::format("Torch refused: {}", error.what()));
  }
}

}  // namespace

struct TorchNetwork::Bound {
  std::shared_ptr<torch::nn::Module> module;
  std::vector<std::string> names;
  std::unique_ptr<ParameterViews> views;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;  ///< Torch itself keeps only weak references
  Announcer announcer;
  std::vector<int> first;              ///< parameter of each segment
  std::unique_ptr<Segments> segments;  ///< if the network has any

  /// Called once Torch has added to the gradient of parameter k.
  void added(std::size_t k) {
    if (!views->adds_in_place(k))
      throw InternalError(fmt::format("Torch gave '{}' a gradient of its own instead of adding to ours", names[k]));
    announcer.tell(k);
  }
};

/// Called by Torch after it has added a gradient to its parameter's.
struct TorchNetwork::AfterAccumulation : torch::autograd::FunctionPostHook {
  AfterAccumulation(Bound& b, std::size_t k) : bound(b), parameter(k) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    bound.added(parameter);
    return outputs;
  }
  Bound& bound;
  std::size_t parameter;
};

TorchNetwork::TorchNetwork(Precision precision) : precision_(precision) {
  observe_operators();
  torch::set_num_threads(host_threads());
  at::globalContext().setDeterministicAlgorithms(true, false);
}

TorchNetwork::~TorchNetwork() = default;

TorchNetwork::Bound& TorchNetwork::bound() const {
  if (bound_) return *bound_;
  auto made = std::make_unique<Bound>();
  calling_torch([&] {
    made->module = const_cast<TorchNetwork*>(this)->build();
    made->module->to(real());
    made->module->train();
  });
  for (const auto& buffer : made->module->named_buffers())
    throw InternalError(
        fmt::format("the module has a buffer '{}' that training would change differently on every rank; use group or "
                    "layer normalisation",
                    buffer.key()));
  std::vector<torch::Tensor> parameters;
  for (const auto& item : made->module->named_parameters()) {
    made->names.push_back(item.key());
    parameters.push_back(item.value());
  }
  made->views = std::make_unique<ParameterViews>(std::move(parameters));
  bound_ = std::move(made);
  find_segments();
  return *bound_;
}

std::vector<FactorLayer> TorchNetwork::module_layers() const { return factor_layers_of(*bound().module, parameters()); }

void TorchNetwork::find_segments() const {
  Bound& b = *bound_;
  const auto wanted = segments();
  std::size_t k = 0;
  for (const auto& name : wanted) {
    b.first.push_back(static_cast<int>(k));
    // The empty name denotes the root module.
    while (k < b.names.size() && (name.empty() || b.names[k].starts_with(name + "."))) ++k;
    if (static_cast<int>(k) == b.first.back())
      throw InternalError(fmt::format("the segment '{}' is not where the parameters come to it", name));
  }
  if (wanted.empty()) return;
  if (k < b.names.size()) throw InternalError(fmt::format("the parameter '{}' belongs to no segment", b.names[k]));
  b.segments = std::make_unique<Segments>(*b.views, wanted, b.first,
                                          [&b](std::size_t parameter) { b.announcer.tell(parameter); });
}

std::vector<int> TorchNetwork::modules() const { return bound().first; }

void TorchNetwork::enter(int segment) {
  Bound& b = bound();
  if (!b.segments) return;
  b.segments->enter(segment);
  // Otherwise the cache would keep copies of the weights used in bfloat16 products.
  if (precision_ == Precision::bfloat16 && b.segments->under_way()) at::autocast::clear_cache();
}

std::vector<ParameterInfo> TorchNetwork::parameters() const {
  const Bound& b = bound();
  std::vector<ParameterInfo> out;
  for (std::size_t k = 0; k < b.views->size(); ++k) {
    const auto sizes = b.views->parameters()[k].sizes();
    out.push_back({b.names[k], {sizes.begin(), sizes.end()}, sizes.size() > 1});
  }
  return out;
}

void TorchNetwork::initial(const ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                           std::uint64_t seed) const {
  if (info.shape.size() > 1) {
    std::int64_t inputs = 1;
    for (std::size_t k = 1; k < info.shape.size(); ++k) inputs *= info.shape[k];
    fill_normal(weights, std::sqrt(2.0 / static_cast<double>(inputs)), seed, index);
  } else {
    fill_constant(weights, info.name.ends_with("weight") ? 1.0 : 0.0);
  }
}

void TorchNetwork::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  const auto infos = parameters();
  for (std::size_t k = 0; k < infos.size(); ++k)
    if (weights[k].data) initial(infos[k], static_cast<std::int64_t>(k), weights[k], seed);
}

/// Makes the module's parameters, and their gradients if given, views of the caller's memory.
void TorchNetwork::bind(std::span<const TensorRef> weights, std::span<const TensorRef> gradients) {
  Bound& b = bound();
  for (std::size_t k = 0; k < weights.size(); ++k) b.views->show_weights(k, weights[k]);
  for (std::size_t k = 0; k < gradients.size(); ++k) b.views->show_gradient(k, gradients[k]);
}

void TorchNetwork::watch_gradients() {
  Bound& b = bound();
  for (std::size_t k = b.accumulators.size(); k < b.views->size(); ++k) {
    b.accumulators.push_back(torch::autograd::impl::grad_accumulator(b.views->parameters()[k]));
    b.accumulators.back()->add_post_hook(std::make_unique<AfterAccumulation>(b, k));
  }
}

torch::Tensor TorchNetwork::weighted_loss(std::span<const SamplePtr> samples, std::span<const double> term_weights,
                                          std::span<TermSum> terms) {
  const auto saving = saved_ ? std::make_unique<SavedTensors::Saving>(*saved_, bound().views->parameters()) : nullptr;
  const Autocast autocast(precision_ == Precision::bfloat16);
  const auto parts = loss(TorchBatch(samples, real()));
  torch::Tensor total;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    terms[k].sum += parts[k].sum.item<double>();
    terms[k].count += parts[k].count;
    if (term_weights[k] == 0.0) continue;
    const torch::Tensor part = parts[k].sum * term_weights[k];
    total = total.defined() ? total + part : part;
  }
  return total;
}

void TorchNetwork::backward(const torch::Tensor& loss) {
  if (saved_ && loss.defined()) saved_->watch(loss);
  if (loss.defined()) loss.backward();
  if (saved_) saved_->adapt();
}

void TorchNetwork::probe(std::span<const SamplePtr> samples, std::span<const double> term_weights) {
  constexpr std::size_t few = 8;
  std::vector<torch::Tensor> before;
  for (const auto& parameter : bound().views->parameters()) before.push_back(parameter.grad().clone());
  std::vector<TermSum> dropped(term_weights.size());
  backward(weighted_loss(samples.first(std::min(few, samples.size())), term_weights, dropped));
  for (std::size_t k = 0; k < before.size(); ++k) bound().views->parameters()[k].grad().copy_(before[k]);
}

void TorchNetwork::gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                            std::span<const double> term_weights, std::span<const TensorRef> gradients,
                            std::span<TermSum> terms, const ReadyCallback& ready) {
  Bound& b = bound();
  calling_torch([&] {
    watch_gradients();
    if (b.segments && ready.by_module())
      return divided_gradient(samples, weights, term_weights, gradients, terms, ready);
    if (!samples.empty()) {
      bind(weights, gradients);
      if (saved_ && saved_->wants_probe()) probe(samples, term_weights);
    }
    b.announcer.begin(ready, b.views->size());
    if (!samples.empty()) backward(weighted_loss(samples, term_weights, terms));
    b.announcer.end();
  });
}

/// The same for sharded weights and gradients. Without a probe, which would require a collective gather.
void TorchNetwork::divided_gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                                    std::span<const double> term_weights, std::span<const TensorRef> gradients,
                                    std::span<TermSum> terms, const ReadyCallback& ready) {
  Bound& b = bound();
  struct Pass {
    Segments& segments;
    ~Pass() { segments.stop(); }
  } pass{*b.segments};
  b.announcer.begin(ready, b.views->size());
  pass.segments.begin(weights, gradients, ready);
  torch::Tensor loss;
  {
    const Keeping tokens(pass.segments);
    if (!samples.empty()) loss = weighted_loss(samples, term_weights, terms);
  }
  pass.segments.turn(loss);
  backward(loss);
  pass.segments.end();
  b.announcer.end();
}

void TorchNetwork::use_activations(const ActivationParams& params) {
  using Keep = ActivationParams::Keep;
  if (params.keep == Keep::compressed && precision_ == Precision::bfloat16)
    throw KeyError(
        "train.activations.precision", "activations",
        "activations in bfloat16 are not compressed; take precision float32, or activations: {mode: recomputed}");
  if (params.keep == Keep::recomputed && !can_recompute())
    throw KeyError("train.activations.parts", "activations",
                   "this network does not define parts that could be recomputed; take activations: {mode: compressed}");
  recompute_ = params.keep == Keep::recomputed;
  saved_ = std::make_unique<SavedTensors>(params);
}

std::vector<std::string> TorchNetwork::report() const { return saved_ ? saved_->report() : std::vector<std::string>{}; }

void TorchNetwork::with_weights(std::span<const TensorRef> weights, const std::function<void()>& run) {
  calling_torch([&] {
    bind(weights, {});
    const torch::NoGradGuard no_graph;
    const Autocast autocast(precision_ == Precision::bfloat16);
    bound().module->eval();
    run();
    bound().module->train();
  });
}

void TorchNetwork::infer(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                         std::span<const TensorRef> outputs) {
  if (samples.empty()) return;
  with_weights(weights, [&] { write_outputs(samples, outputs); });
}

void TorchNetwork::write_outputs(std::span<const SamplePtr> samples, std::span<const TensorRef> outputs) {
  const auto found = predict(TorchBatch(samples, real()));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const TensorRef& out = outputs[k];
    const auto axes = static_cast<std::size_t>(out.rank);
    torch::from_blob(out.data, {out.shape, axes}, {out.stride, axes}, torch::kFloat64)
        .copy_(found.at(k).reshape({out.shape, axes}));
  }
}

/// with_weights() for sharded weights.
void TorchNetwork::in_segments(std::span<const TensorRef> weights, const ReadyCallback& ready,
                               const std::function<void()>& run) {
  Bound& b = bound();
  struct Pass {
    Segments& segments;
    ~Pass() { segments.stop(); }
  } pass{*b.segments};
  calling_torch([&] {
    const torch::NoGradGuard no_graph;
    const Autocast autocast(precision_ == Precision::bfloat16);
    b.segments->begin(weights, {}, ready);
    b.module->eval();
    run();
    b.segments->end_forward();
    b.module->train();
  });
}

bool TorchNetwork::works_by_module() const { return bound().segments && measures_in_order(); }

void TorchNetwork::evaluate_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                                      const ReadyCallback& ready, std::span<TermSum> metrics, std::span<TermSum> loss) {
  in_segments(weights, ready, [&] { add_metrics(samples, metrics); });
  if (!loss.empty()) traits().loss->add_loss(samples, weights, loss);
}

void TorchNetwork::infer_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                                   const ReadyCallback& ready, std::span<const TensorRef> outputs) {
  in_segments(weights, ready, [&] { write_outputs(samples, outputs); });
}

void TorchNetwork::evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                            std::span<TermSum> metrics) {
  if (samples.empty()) return;
  with_weights(weights, [&] { add_metrics(samples, metrics); });
}

void TorchNetwork::add_metrics(std::span<const SamplePtr> samples, std::span<TermSum> metrics) {
  const auto parts = measure(TorchBatch(samples, real()));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    metrics[k].sum += parts[k].sum.item<double>();
    metrics[k].count += parts[k].count;
  }
}

}  // namespace cambium::train
