#include "plugins/kinetic/networks/heat_flux_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "core/train/networks/mlp/mlp_layers.hpp"

namespace cambium::kinetic {

using train::SamplePtr;

void HeatFluxKernel::Params::describe(deck::Describe<Params>& d) {
  d("layers", &Params::layers, "widths of the hidden layers of the kernels' transforms").example("[16]");
  d("reach", &Params::reach,
    "locality of the kernel: nonlocal, over the full line, or local, from the values at the same position only")
      .options({{"nonlocal", Reach::nonlocal}, {"pointwise", Reach::pointwise}})
      .def(Reach::nonlocal);
  d.check([](const Params& p) -> std::string {
    for (auto width : p.layers)
      if (width < 1) return fmt::format("layers: a width of {} is none; widths are 1 or more", width);
    return {};
  });
}

template <std::size_t N>
static std::array<double, N> numbers_of(const SamplePtr& sample, const char* field) {
  const auto& tensor = train::field_of(*sample, field);
  if (tensor.elements() != N)
    throw InputError(fmt::format(
        "sample {}: field '{}' has {} values instead of {}; use the file that the output 'heat_flux' writes",
        sample->id, field, tensor.elements(), N));
  std::array<double, N> out;
  train::read_numbers(tensor, out.data());
  return out;
}

void HeatFluxKernel::fit_statistics(train::Dataset& training, Context&) {
  std::vector<std::int64_t> ids(training.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int64_t>(k);
  lowest_ = 1e300;
  highest_ = -1e300;
  for (const auto& sample : training.read(ids)) {
    const double k = numbers_of<1>(sample, "wavenumber")[0];
    lowest_ = std::min(lowest_, k);
    highest_ = std::max(highest_, k);
  }
  if (!(lowest_ > 0.0))
    throw InputError(fmt::format("a wavenumber of the training set is {:g}; the mean has no heat flux", lowest_));
}

std::vector<std::int64_t> HeatFluxKernel::widths() const {
  std::vector<std::int64_t> out{1};
  if (params_.reach == Reach::nonlocal) out.insert(out.end(), params_.layers.begin(), params_.layers.end());
  out.push_back(2);
  return out;
}

std::vector<train::ParameterInfo> HeatFluxKernel::parameters() const { return train::mlp_parameters(widths()); }

void HeatFluxKernel::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  train::initialise_mlp<double>(weights, widths(), seed);
}

/// Wavenumbers mapped to [-1, 1]; a pointwise closure does not use them.
std::vector<double> HeatFluxKernel::inputs(std::span<const SamplePtr> samples) const {
  std::vector<double> out;
  const double middle = 0.5 * (highest_ + lowest_), half = highest_ > lowest_ ? 0.5 * (highest_ - lowest_) : 1.0;
  for (const auto& sample : samples) {
    const double k = std::clamp(numbers_of<1>(sample, "wavenumber")[0], lowest_, highest_);
    out.push_back(params_.reach == Reach::pointwise ? 0.0 : (k - middle) / half);
  }
  return out;
}

std::vector<double> HeatFluxKernel::loss(std::span<const SamplePtr> samples, std::span<const double> kernel,
                                         double weight, train::TermSum& sum) const {
  std::vector<double> out(2 * samples.size());
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto T = numbers_of<2>(samples[s], "temperature"), u = numbers_of<2>(samples[s], "velocity"),
               q = numbers_of<2>(samples[s], "heat_flux");
    // By a: i T, or T. By b: u.
    const std::array<double, 2> by_a = params_.reach == Reach::nonlocal ? std::array{-T[1], T[0]} : T;
    const double scale = 1.0 / std::max(T[0] * T[0] + T[1] * T[1] + u[0] * u[0] + u[1] * u[1], 1e-300);
    for (int c = 0; c < 2; ++c) {
      const double error = kernel[2 * s] * by_a[c] + kernel[2 * s + 1] * u[c] - q[c];
      sum.sum += scale * error * error;
      out[2 * s] += 2.0 * weight * scale * error * by_a[c];
      out[2 * s + 1] += 2.0 * weight * scale * error * u[c];
    }
    sum.count += 1.0;
  }
  return out;
}

void HeatFluxKernel::gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                              std::span<const double> term_weights, std::span<const TensorRef> gradients,
                              std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  const auto w = widths();
  train::MlpLayers<double> layers(w, train::Mlp::Activation::tanh, false, weights);
  const auto& kernel = layers.forward(inputs(samples), static_cast<int>(samples.size()));
  layers.backward(loss(samples, kernel, term_weights[0], terms[0]), gradients, ready);
}

void HeatFluxKernel::evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                              std::span<train::TermSum> metrics) {
  if (samples.empty()) return;
  const auto w = widths();
  train::MlpLayers<double> layers(w, train::Mlp::Activation::tanh, false, weights);
  loss(samples, layers.forward(inputs(samples), static_cast<int>(samples.size())), 1.0, metrics[0]);
}

void HeatFluxKernel::infer(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<const TensorRef> outputs) {
  if (samples.empty()) return;
  const auto w = widths();
  train::MlpLayers<double> layers(w, train::Mlp::Activation::tanh, false, weights);
  const auto& kernel = layers.forward(inputs(samples), static_cast<int>(samples.size()));
  auto* out = static_cast<double*>(outputs[0].data);
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (int c = 0; c < 2; ++c)
      out[static_cast<std::int64_t>(s) * outputs[0].stride[0] + c * outputs[0].stride[1]] = kernel[2 * s + c];
}

std::string HeatFluxKernel::state() const { return nlohmann::json{{"lowest", lowest_}, {"highest", highest_}}.dump(); }

void HeatFluxKernel::restore(const std::string& state) {
  const auto json = nlohmann::json::parse(state);
  json.at("lowest").get_to(lowest_);
  json.at("highest").get_to(highest_);
}

}  // namespace cambium::kinetic
