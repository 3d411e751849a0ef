#include "plugins/mace/engine/radial.hpp"

#include <cmath>

#include "core/base/pack_math.hpp"
#include "core/numerics/dense_layer.hpp"

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

/// SiLU times `factor` in place of `value`, its derivative times `slope` in place of that; null: no slopes.
template <int Width>
void activate(double factor, double* value, double* slope) {
  using P = Pack<double, Width>;
  const P z = P::load(value), gate = P(0.5) + P(0.5) * tanh(P(0.5) * z);
  (P(factor) * z * gate).store(value);
  if (slope) (P::load(slope) * P(factor) * gate * (P(1.0) + z * (P(1.0) - gate))).store(slope);
}

void activate_all(double factor, std::size_t size, double* value, double* slope) {
  constexpr std::size_t width = native_width<double>;
  std::size_t n = 0;
  for (; n + width <= size; n += width) activate<native_width<double>>(factor, value + n, slope ? slope + n : nullptr);
  for (; n < size; ++n) activate<1>(factor, value + n, slope ? slope + n : nullptr);
}

}  // namespace

void RadialWeights::compute(const MaceModel& model, const RadialNetwork& network, const double* r, int edges,
                            bool slopes) {
  inputs(model, r, edges, slopes);
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const auto& layer = network.layers[k];
    const DenseLayer<double> dense{layer.in, layer.out, layer.weight.data()};
    const std::size_t size = static_cast<std::size_t>(edges) * layer.out;
    next_value_.resize(size);
    dense.forward(edges, value_.data(), next_value_.data());
    if (slopes) {
      next_slope_.resize(size);
      dense.forward(edges, slope_.data(), next_slope_.data());
    }
    if (k + 1 < network.layers.size())
      activate_all(model.activation, size, next_value_.data(), slopes ? next_slope_.data() : nullptr);
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
