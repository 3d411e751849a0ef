#include "plugins/mace/engine/radial.hpp"

#include <cmath>

namespace cambium::mace {

void envelope(double r, double cutoff, int p, double& value, double& slope) {
  const double x = r / cutoff;
  double power = 1.0;  // x^(p-1)
  for (int k = 1; k < p; ++k) power *= x;
  value = 1.0 + power * x * (-0.5 * (p + 1) * (p + 2) + x * (p * (p + 2) - 0.5 * x * p * (p + 1)));
  slope = -0.5 * p * (p + 1) * (p + 2) * power * (1.0 - x) * (1.0 - x) / cutoff;
}

void RadialWeights::inputs(const MaceModel& model, const double* r, int edges, bool slopes) {
  const std::size_t n = model.bessel.size();
  value_.resize(static_cast<std::size_t>(edges) * n);
  slope_.resize(slopes ? value_.size() : 0);
  for (int e = 0; e < edges; ++e) {
    double cut = 1.0, cut_slope = 0.0;
    if (model.cut_inputs) envelope(r[e], model.cutoff, model.envelope, cut, cut_slope);
    for (std::size_t k = 0; k < n; ++k) {
      const double w = model.bessel[k], sine = model.bessel_factor * std::sin(w * r[e]) / r[e];
      value_[e * n + k] = sine * cut;
      if (slopes)
        slope_[e * n + k] = (model.bessel_factor * w * std::cos(w * r[e]) - sine) / r[e] * cut + sine * cut_slope;
    }
  }
}

namespace {

/// Rows of `in` values times the layer's weights.
void multiply(const RadialNetwork::Layer& layer, const double* in, int rows, double* out) {
  for (int e = 0; e < rows; ++e) {
    double* to = out + static_cast<std::size_t>(e) * layer.out;
    for (int o = 0; o < layer.out; ++o) to[o] = 0.0;
    for (int k = 0; k < layer.in; ++k) {
      const double value = in[static_cast<std::size_t>(e) * layer.in + k];
      const double* row = layer.weight.data() + static_cast<std::size_t>(k) * layer.out;
      for (int o = 0; o < layer.out; ++o) to[o] += value * row[o];
    }
  }
}

}  // namespace

void RadialWeights::compute(const MaceModel& model, const RadialNetwork& network, const double* r, int edges,
                            bool slopes) {
  inputs(model, r, edges, slopes);
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const auto& layer = network.layers[k];
    const std::size_t size = static_cast<std::size_t>(edges) * layer.out;
    next_value_.resize(size);
    multiply(layer, value_.data(), edges, next_value_.data());
    if (slopes) {
      next_slope_.resize(size);
      multiply(layer, slope_.data(), edges, next_slope_.data());
    }
    if (k + 1 < network.layers.size())
      for (std::size_t n = 0; n < size; ++n) {
        const double z = next_value_[n], gate = 1.0 / (1.0 + std::exp(-z));
        next_value_[n] = model.activation * z * gate;
        if (slopes) next_slope_[n] *= model.activation * gate * (1.0 + z * (1.0 - gate));
      }
    value_.swap(next_value_);
    if (slopes) slope_.swap(next_slope_);
  }
  if (model.cut_inputs) return;
  const std::size_t n = static_cast<std::size_t>(network.outputs());
  for (int e = 0; e < edges; ++e) {
    double cut = 1.0, cut_slope = 0.0;
    envelope(r[e], model.cutoff, model.envelope, cut, cut_slope);
    for (std::size_t o = e * n; o < (e + 1) * n; ++o) {
      if (slopes) slope_[o] = slope_[o] * cut + value_[o] * cut_slope;
      value_[o] *= cut;
    }
  }
}

}  // namespace cambium::mace
