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

template <class T>
RadialWeights<T>::RadialWeights(const MaceModel& model, const RadialNetwork& network)
    : bessel_(model.bessel), bessel_factor_(model.bessel_factor), cutoff_(model.cutoff), activation_(model.activation),
      envelope_(model.envelope), cut_inputs_(model.cut_inputs) {
  for (const auto& layer : network.layers)
    layers_.push_back({layer.in, layer.out, std::vector<T>(layer.weight.begin(), layer.weight.end())});
}

template <class T>
void RadialWeights<T>::inputs(const double* r, int edges, bool slopes) {
  const std::size_t n = bessel_.size();
  slopes_ = static_cast<std::size_t>(edges) * n;
  values_.resize(slopes ? 2 * slopes_ : slopes_);
  for (int e = 0; e < edges; ++e) {
    double cut = 1.0, cut_slope = 0.0;
    if (cut_inputs_) envelope(r[e], cutoff_, envelope_, cut, cut_slope);
    for (std::size_t k = 0; k < n; ++k) {
      const double w = bessel_[k], sine = bessel_factor_ * std::sin(w * r[e]) / r[e];
      values_[e * n + k] = static_cast<T>(sine * cut);
      if (slopes)
        values_[slopes_ + e * n + k] =
            static_cast<T>((bessel_factor_ * w * std::cos(w * r[e]) - sine) / r[e] * cut + sine * cut_slope);
    }
  }
}

namespace {

/// Replaces `value` by SiLU times `factor`, and `slope` by its derivative times `slope`; null: no slopes.
template <class P>
void activate(P factor, typename P::value_type* value, typename P::value_type* slope) {
  using T = typename P::value_type;
  const P z = P::load(value), gate = P(T(0.5)) + P(T(0.5)) * tanh(P(T(0.5)) * z);
  (factor * z * gate).store(value);
  if (slope) (P::load(slope) * factor * gate * (P(T(1)) + z * (P(T(1)) - gate))).store(slope);
}

template <class T>
void activate_all(T factor, std::size_t size, T* value, T* slope) {
  constexpr int width = native_width<T>;
  std::size_t n = 0;
  for (; n + width <= size; n += width) activate<Pack<T, width>>(factor, value + n, slope ? slope + n : nullptr);
  for (; n < size; ++n) activate<Pack<T, 1>>(factor, value + n, slope ? slope + n : nullptr);
}

}  // namespace

template <class T>
void RadialWeights<T>::cut_off(const double* r, int edges, bool slopes) {
  const std::size_t n = static_cast<std::size_t>(outputs());
  for (int e = 0; e < edges; ++e) {
    double value = 1.0, slope = 0.0;
    envelope(r[e], cutoff_, envelope_, value, slope);
    const T cut = static_cast<T>(value), cut_slope = static_cast<T>(slope);
    for (std::size_t o = e * n; o < (e + 1) * n; ++o) {
      if (slopes) values_[slopes_ + o] = values_[slopes_ + o] * cut + values_[o] * cut_slope;
      values_[o] *= cut;
    }
  }
}

template <class T>
void RadialWeights<T>::compute(const double* r, int edges, bool slopes) {
  inputs(r, edges, slopes);
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const Layer& layer = layers_[k];
    const DenseLayer<T> dense{layer.in, layer.out, layer.weight.data()};
    const std::size_t size = static_cast<std::size_t>(edges) * layer.out;
    next_.resize(slopes ? 2 * size : size);
    dense.forward(slopes ? 2 * edges : edges, values_.data(), next_.data());
    if (k + 1 < layers_.size())
      activate_all(static_cast<T>(activation_), size, next_.data(), slopes ? next_.data() + size : nullptr);
    values_.swap(next_);
    slopes_ = size;
  }
  if (!cut_inputs_) cut_off(r, edges, slopes);
}

template class RadialWeights<double>;
template class RadialWeights<float>;

}  // namespace cambium::mace
