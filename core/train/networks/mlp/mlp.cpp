#include "core/train/networks/mlp/mlp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.hpp"
#include "core/parallel/memory.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/mlp/device_layers.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "core/train/networks/mlp/mlp_layers.hpp"
#include "core/train/networks/mlp/mlp_loss.hpp"

namespace cambium::train {

void Mlp::Params::describe(deck::Describe<Params>& d) {
  d("layers", &Params::layers, "widths of the hidden layers").example("[64, 64]");
  d("activation", &Params::activation, "activation function after each hidden layer")
      .options({{"tanh", Activation::tanh},
                {"relu", Activation::relu},
                {"sigmoid", Activation::sigmoid},
                {"gelu", Activation::gelu},
                {"silu", Activation::silu}})
      .def(Activation::tanh);
  d("input", &Params::input, "name of the input field").def("input");
  d("target", &Params::target, "name of the predicted field").def("target");
  d("objective", &Params::goal, "learning objective: regression (real values) or classification (class index)")
      .formerly("goal")
      .options({{"regression", Goal::regression}, {"classification", Goal::classification}})
      .def(Goal::regression);
  d("label_smoothing", &Params::label_smoothing,
    "label smoothing: fraction of the target probability that is distributed uniformly over all classes")
      .range(0.0, 0.99)
      .def(0.0);
  d("precision", &Params::precision,
    "precision of weights and products; bfloat16 rounds the factors of products, accumulation is float32")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}, {"bfloat16", Precision::bfloat16}})
      .def(Precision::float32);
  d("normalise", &Params::normalise, "scale inputs and targets to mean 0 and standard deviation 1").def(true);
  d("compute", &Params::compute,
    "execution: products and loops on the host, or kernels of this build's default back end with all data of a step in "
    "its memory; auto: kernels if that is a device and a training step has enough work")
      .options({{"auto", Compute::automatic}, {"host", Compute::host}, {"kernels", Compute::kernels}})
      .def(Compute::automatic);
  d("factor_ranks", &Params::ranks,
    "factor rank of each layer's low-rank factorisation, output layer included; 0 for a full matrix. A stage compress "
    "determines them")
      .formerly("ranks")
      .def({});
  d.check([](const Params& p) -> std::string {
    for (auto width : p.layers)
      if (width < 1) return fmt::format("layers: a width of {} is none; widths are 1 or more", width);
    return ranks_problem(p.ranks, p.layers.size() + 1);
  });
}

/// The deck alone determines the weights of hidden layers, except for the number of inputs: checks memory for two
/// copies, weights and gradients, at best sharded. Training itself checks its full memory.
Mlp::Mlp(const Params& params, Context& context) : params_(params), device_(std::make_shared<MlpOnDevice>()) {
  if (!context.dry_run) return;
  double weights = 0.0, before = 1.0;  // at least one input
  for (const auto width : params.layers) {
    weights += (before + 1.0) * static_cast<double>(width);  // and biases
    before = static_cast<double>(width);
  }
  require_memory(2.0 * weights * static_cast<double>(size_of(dtype())) / context.comm.size(),
                 fmt::format("a network with layers of {:.4g} weights", weights),
                 "make 'layers' narrower, or use more nodes", context);
}

/// Mean and standard deviation of each value of a field; constant values keep the scale 1, even if rounding leaves a
/// nonzero deviation.
static void mean_and_scale(std::span<const SamplePtr> samples, const std::string& field, std::vector<double>& mean,
                           std::vector<double>& scale) {
  const auto width = static_cast<std::size_t>(field_of(*samples.front(), field).elements());
  std::vector<double> row(width), squares(width, 0.0), first(width);
  std::vector<bool> changes(width, false);
  mean.assign(width, 0.0);
  const auto each = [&](const auto& add) {
    for (const auto& sample : samples) {
      if (field_of(*sample, field).elements() != std::ssize(row))
        throw InputError(
            fmt::format("field '{}' has {} values in sample {}, but {} in sample {}; mlp needs equal sizes", field,
                        field_of(*sample, field).elements(), sample->id, width, samples.front()->id));
      read_numbers(field_of(*sample, field), row.data());
      for (std::size_t k = 0; k < width; ++k) add(k);
    }
  };
  const double n = static_cast<double>(samples.size());
  read_field<double>(*samples.front(), field, first);
  each([&](std::size_t k) { mean[k] += row[k] / n, changes[k] = changes[k] || row[k] != first[k]; });
  each([&](std::size_t k) { squares[k] += (row[k] - mean[k]) * (row[k] - mean[k]) / n; });
  scale.clear();
  for (std::size_t k = 0; k < width; ++k) scale.push_back(changes[k] && squares[k] > 0.0 ? std::sqrt(squares[k]) : 1.0);
  const auto lost = [&](std::size_t k) { return changes[k] && !std::isnormal(squares[k]); };
  std::vector<double> largest(width, 0.0), shares(width, 0.0);
  for (std::size_t k = 0; k < width; ++k) {
    if (!lost(k)) continue;  // squares of 1e200 or 1e-200 overflow or underflow
    each([&](std::size_t j) { largest[j] = std::max(largest[j], std::abs(row[j] - mean[j])); });
    each([&](std::size_t j) { shares[j] += std::pow((row[j] - mean[j]) / largest[j], 2) / n; });
    for (; k < width; ++k)
      if (lost(k) && largest[k] > 0.0) scale[k] = largest[k] * std::sqrt(shares[k]);
  }
}

/// Warns where the root mean square over the values of a target is that of the largest ones: values without a common
/// unit, whose standard deviations differ by more than two orders.
static void say_unequal(const std::string& field, std::span<const double> scale, Log& log) {
  constexpr double noticed = 100.0;
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const double spread : scale) {
    if (spread == 1.0) continue;  // a constant value
    least = std::min(least, spread);
    most = std::max(most, spread);
  }
  if (!(most > noticed * least)) return;
  log.warn(fmt::format(
      "target '{}': the standard deviations of its values are {:.3g} to {:.3g}, so 'error', by which a stage "
      "train chooses the best model, is that of the largest; 'validate.metric_weights: [0, 1]' chooses by "
      "'scaled_error', in which all count alike",
      field, least, most));
}

/// Inputs, hidden layers, outputs.
static std::vector<std::int64_t> widths_of(const Mlp::Params& params, const Mlp::Scaling& scaling) {
  std::vector<std::int64_t> out{std::ssize(scaling.input_mean)};
  out.insert(out.end(), params.layers.begin(), params.layers.end());
  out.push_back(params.goal == Mlp::Goal::regression ? std::ssize(scaling.target_mean) : scaling.classes);
  return out;
}

/// The same including the widths between factors, and the layers without activation.
MlpShape shape_of(const Mlp::Params& params, const Mlp::Scaling& scaling) {
  const auto all = widths_of(params, scaling);
  MlpShape out{{all[0]}, {}};
  for (std::size_t l = 0; l + 1 < all.size(); ++l) {
    if (l < params.ranks.size() && params.ranks[l] > 0) {
      out.widths.push_back(params.ranks[l]);
      out.plain.push_back(true);
    }
    out.widths.push_back(all[l + 1]);
    out.plain.push_back(false);
  }
  return out;
}

void Mlp::fit_statistics(Dataset& training, Context& context) {
  device_->forget();
  constexpr std::int64_t enough = 4096;
  const std::int64_t n = std::min(enough, training.size());
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < n; ++k) ids.push_back(training.size() * k / n);
  const auto samples = training.read(ids);
  mean_and_scale(samples, params_.input, scaling_.input_mean, scaling_.input_scale);
  if (params_.goal == Goal::regression) {
    mean_and_scale(samples, params_.target, scaling_.target_mean, scaling_.target_scale);
  } else {
    scaling_.classes = classes_in(training, params_.target, context.log);
  }
  if (!params_.normalise) {
    for (auto* mean : {&scaling_.input_mean, &scaling_.target_mean}) std::fill(mean->begin(), mean->end(), 0.0);
    for (auto* scale : {&scaling_.input_scale, &scaling_.target_scale}) std::fill(scale->begin(), scale->end(), 1.0);
  }
  for (const auto& field : training.fields())
    if (field.name == params_.target) scaling_.target_unit = field.unit;
  if (params_.normalise && scaling_.target_unit.empty())
    say_unequal(params_.target, scaling_.target_scale, context.log);
}

std::vector<FactorLayer> Mlp::factor_layers() const {
  const auto all = widths_of(params_, scaling_);
  std::vector<FactorLayer> out;
  for (int l = 0, at = 0; l + 1 < std::ssize(all); ++l, ++at) {
    FactorLayer layer;
    layer.name = fmt::format("{}", l);
    layer.inputs = all[l];
    layer.outputs = all[static_cast<std::size_t>(l) + 1];
    layer.outputs_first = false;
    layer.rank = l < std::ssize(params_.ranks) ? params_.ranks[l] : 0;
    if (layer.rank > 0) {
      layer.enter = 2 * at;
      layer.between = 2 * at + 1;
      layer.leave = 2 * ++at;
    }
    if (layer.rank == 0) layer.core = 2 * at;
    layer.bias = 2 * at + 1;
    out.push_back(layer);
  }
  return out;
}

std::vector<ParameterInfo> Mlp::parameters() const { return mlp_parameters(shape_of(params_, scaling_).widths, true); }

std::vector<int> Mlp::modules() const {
  std::vector<int> out;
  for (int l = 0; l + 1 < std::ssize(shape_of(params_, scaling_).widths); ++l) out.push_back(2 * l);
  return out;
}

void Mlp::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  const bool rectifies = params_.activation == Activation::relu || params_.activation == Activation::gelu ||
                         params_.activation == Activation::silu;
  with_real(dtype(),
            [&]<class T>() { initialise_mlp<T>(weights, shape_of(params_, scaling_).widths, seed, rectifies); });
}

std::vector<TermInfo> Mlp::terms() const {
  if (params_.goal == Goal::regression) return {{"scaled_error", "", TermInfo::Report::root_mean}};
  return {{"cross_entropy", "", TermInfo::Report::mean}};
}

std::vector<TermInfo> Mlp::metrics() const {
  if (params_.goal == Goal::regression) {
    std::vector<TermInfo> out{{"error", scaling_.target_unit, TermInfo::Report::root_mean}};
    if (scaling_.target_mean.size() > 1) out.push_back({"scaled_error", "", TermInfo::Report::root_mean});
    return out;
  }
  return {{"wrong", "", TermInfo::Report::mean}, {"cross_entropy", "", TermInfo::Report::mean}};
}

/// Quantised weights are multiplied by lookup tables on the host.
static bool by_kernels(const Mlp::Params& params, const MlpOnDevice& device, const CodedWeights* coded) {
  if (coded) return false;
  return params.compute == Mlp::Compute::kernels ||
         (params.compute == Mlp::Compute::automatic && kernels_have_own_memory() && !device.kept_off);
}

void Mlp::begin_step(std::uint64_t, std::int64_t) { device_->begin(MlpOnDevice::Weights::of_step); }
void Mlp::begin_evaluation(Dataset&, std::span<const TensorRef>) {
  device_->begin(MlpOnDevice::Weights::of_evaluation);
}

std::vector<std::string> Mlp::report() const {
  if (by_kernels(params_, *device_, coded_)) return {fmt::format("mlp: computed by kernels of {}", kernels_run_on())};
  if (!kernels_have_own_memory() && params_.compute != Compute::kernels) return {};  // no separate device
  if (device_->kept_off) return {"mlp: computed on the host, as its steps are too small for kernels"};
  return {coded_ ? "mlp: computed on the host, whose tables multiply low-bit weights" : "mlp: computed on the host"};
}

void Mlp::gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                   std::span<const double> term_weights, std::span<const TensorRef> gradients, std::span<TermSum> terms,
                   const ReadyCallback& ready) {
  const auto w = shape_of(params_, scaling_);
  const int rows = static_cast<int>(samples.size());
  with_real(dtype(), [&]<class T>() {
    if (by_kernels(params_, *device_, coded_)) {
      auto& layers = device_->layers<T>(params_, w, MlpOnDevice::Weights::of_step);
      T* const block = layers.block(rows, true).data();
      write_scaled_inputs<T>(samples, params_, scaling_, block);
      write_targets<T>(samples, params_, scaling_, block + samples.size() * scaling_.input_mean.size());
      layers.forward(weights, ready);
      terms[0].sum += layers.loss(term_weights[0]);
      terms[0].count += static_cast<double>(rows);
      return layers.backward(gradients, ready);
    }
    MlpLayers<T> layers(w.widths, params_.activation, params_.precision == Precision::bfloat16, weights, nullptr,
                        w.plain);
    const auto& outputs = layers.forward(scaled_inputs<T>(samples, params_, scaling_), rows, ready);
    layers.backward(loss_by_output<T>(samples, outputs, params_, scaling_, term_weights[0], terms[0]), gradients,
                    ready);
  });
}

/// Unscaled outputs of the last layer.
template <class T>
std::vector<T> Mlp::scaled_outputs(std::span<const SamplePtr> samples, std::span<const TensorRef> weights, bool keep,
                                   const ReadyCallback& ready) {
  const auto w = shape_of(params_, scaling_);
  const int rows = static_cast<int>(samples.size());
  if (by_kernels(params_, *device_, coded_)) {
    using Weights = MlpOnDevice::Weights;
    auto& layers = device_->layers<T>(params_, w, keep ? Weights::of_evaluation : Weights::change);
    write_scaled_inputs<T>(samples, params_, scaling_, layers.block(rows, false).data());
    layers.forward(weights, ready);
    return layers.outputs();
  }
  MlpLayers<T> layers(w.widths, params_.activation, params_.precision == Precision::bfloat16, weights, coded_, w.plain);
  return layers.forward(scaled_inputs<T>(samples, params_, scaling_), rows, ready);
}

void Mlp::add_loss(std::span<const SamplePtr> samples, std::span<const TensorRef> weights, std::span<TermSum> terms) {
  with_real(dtype(), [&]<class T>() {
    loss_by_output<T>(samples, scaled_outputs<T>(samples, weights, true), params_, scaling_, 1.0, terms[0]);
  });
}

/// In the target's unit, or as probabilities.
template <class T>
std::vector<double> Mlp::predicted(std::size_t samples, std::span<const T> outputs) const {
  std::vector<double> out;
  const auto width = static_cast<std::size_t>(widths_of(params_, scaling_).back());
  for (std::size_t s = 0; s < samples; ++s) {
    const auto row = outputs.subspan(s * width, width);
    if (params_.goal == Goal::classification) {
      const auto p = softmax(row);
      out.insert(out.end(), p.begin(), p.end());
    } else {
      for (std::size_t k = 0; k < width; ++k)
        out.push_back(static_cast<double>(row[k]) * scaling_.target_scale[k] + scaling_.target_mean[k]);
    }
  }
  return out;
}

std::vector<double> Mlp::predict(std::span<const SamplePtr> samples, std::span<const TensorRef> weights, bool keep,
                                 const ReadyCallback& ready) {
  std::vector<double> out;
  with_real(dtype(),
            [&]<class T>() { out = predicted<T>(samples.size(), scaled_outputs<T>(samples, weights, keep, ready)); });
  return out;
}

std::vector<FieldInfo> Mlp::outputs() const {
  const bool numbers = params_.goal == Goal::regression;
  return {{"output", numbers ? scaling_.target_unit : "", {widths_of(params_, scaling_).back()}, DType::f64}};
}

void Mlp::infer(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const TensorRef> outputs) {
  if (!samples.empty()) infer_by_module(samples, weights, {}, outputs);
}

void Mlp::infer_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                          const ReadyCallback& ready, std::span<const TensorRef> outputs) {
  const auto values = predict(samples, weights, false, ready);
  const TensorRef& out = outputs[0];
  for (std::int64_t s = 0; s < out.shape[0]; ++s)
    for (std::int64_t k = 0; k < out.shape[1]; ++k)
      static_cast<double*>(out.data)[s * out.stride[0] + k * out.stride[1]] = values[s * out.shape[1] + k];
}

std::vector<io::ParityQuantity> Mlp::parity_quantities() const {
  if (params_.goal != Goal::regression) return {};
  std::vector<std::string> components;
  for (std::int64_t k = 0; widths_of(params_, scaling_).back() > 1 && k < widths_of(params_, scaling_).back(); ++k)
    components.push_back(std::to_string(k));
  return {{params_.target, scaling_.target_unit, "target of the network", {"sample"}, components, {}, {}, {}}};
}

void Mlp::add_parity(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                     std::span<io::ParityQuantity> quantities) {
  if (samples.empty()) return;
  auto& q = quantities[0];
  const auto y = predict(samples, weights);
  q.predicted.insert(q.predicted.end(), y.begin(), y.end());
  std::vector<double> target(q.width());
  for (const auto& sample : samples) {
    read_field<double>(*sample, params_.target, target);
    q.reference.insert(q.reference.end(), target.begin(), target.end());
    q.place.push_back(sample->id);
  }
}

void Mlp::add_classes(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                      ClassPredictions& predictions) {
  if (samples.empty()) return;
  const auto y = predict(samples, weights);
  predictions.probability.insert(predictions.probability.end(), y.begin(), y.end());
  for (const auto& sample : samples) {
    predictions.sample.push_back(sample->id);
    predictions.label.push_back(class_of(*sample, params_.target, scaling_.classes));
  }
}

void Mlp::evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights, std::span<TermSum> metrics) {
  if (!samples.empty()) add_errors(samples, predict(samples, weights, true), metrics);
}

void Mlp::evaluate_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                             const ReadyCallback& ready, std::span<TermSum> metrics, std::span<TermSum> loss) {
  with_real(dtype(), [&]<class T>() {
    const auto y = scaled_outputs<T>(samples, weights, true, ready);
    add_errors(samples, predicted<T>(samples.size(), y), metrics);
    if (!loss.empty()) loss_by_output<T>(samples, y, params_, scaling_, 1.0, loss[0]);
  });
}

void Mlp::add_errors(std::span<const SamplePtr> samples, std::span<const double> y, std::span<TermSum> metrics) const {
  const std::size_t width = y.size() / samples.size();
  std::vector<double> target(width);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto row = y.subspan(s * width, width);
    if (params_.goal == Goal::regression) {
      read_field<double>(*samples[s], params_.target, target);
      for (std::size_t k = 0; k < width; ++k) {
        const double error = row[k] - target[k];
        metrics[0].sum += error * error;
        if (width > 1) metrics[1].sum += std::pow(error / scaling_.target_scale[k], 2);
      }
      for (auto& metric : metrics) metric.count += static_cast<double>(width);
    } else {
      const auto label = class_of(*samples[s], params_.target, std::ssize(row));
      const auto chosen = std::max_element(row.begin(), row.end()) - row.begin();
      metrics[0].sum += chosen == label ? 0.0 : 1.0;
      metrics[1].sum -= std::log(std::max(row[label], 1e-300));
      for (auto& metric : metrics) metric.count += 1.0;
    }
  }
}

std::string Mlp::state() const {
  return nlohmann::json{{"input_mean", scaling_.input_mean},   {"input_scale", scaling_.input_scale},
                        {"target_mean", scaling_.target_mean}, {"target_scale", scaling_.target_scale},
                        {"classes", scaling_.classes},         {"target_unit", scaling_.target_unit}}
      .dump();
}

void Mlp::restore(const std::string& state) {
  device_->forget();
  const auto json = nlohmann::json::parse(state);
  json.at("input_mean").get_to(scaling_.input_mean);
  json.at("input_scale").get_to(scaling_.input_scale);
  json.at("target_mean").get_to(scaling_.target_mean);
  json.at("target_scale").get_to(scaling_.target_scale);
  json.at("classes").get_to(scaling_.classes);
  json.at("target_unit").get_to(scaling_.target_unit);
  constexpr std::int64_t most_classes = 100'000'000;
  if (scaling_.input_mean.empty() || scaling_.input_mean.size() != scaling_.input_scale.size() ||
      scaling_.target_mean.size() != scaling_.target_scale.size() || scaling_.classes < 0 ||
      scaling_.classes > most_classes || widths_of(params_, scaling_).back() < 1)
    throw InputError(
        fmt::format("the state of this mlp holds {} means and {} scales of inputs, {} and {} of targets, {} classes, "
                    "which do not fit together; its file is damaged or was changed",
                    scaling_.input_mean.size(), scaling_.input_scale.size(), scaling_.target_mean.size(),
                    scaling_.target_scale.size(), scaling_.classes));
}

}  // namespace cambium::train
