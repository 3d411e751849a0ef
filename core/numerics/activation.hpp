#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/base/pack.hpp"

namespace cambium {

/// Activations of dense layers: tanh, max(0, x), 1 / (1 + e^-x), x times the normal distribution's cumulative function
/// (Hendrycks and Gimpel 2016), x / (1 + e^-x).
enum class Activation { tanh, relu, sigmoid, gelu, silu };

namespace detail {
template <class T>
CAMBIUM_FN T normal_cdf(T x) {
  return T(0.5) * std::erfc(-x * T(std::numbers::sqrt2 / 2.0));
}
}  // namespace detail

/// f(x), for host and device alike.
template <class T>
CAMBIUM_FN T activated(Activation f, T x) {
  switch (f) {
    case Activation::tanh:
      return std::tanh(x);
    case Activation::relu:
      return x > T(0) ? x : T(0);
    case Activation::sigmoid:
      return T(1) / (T(1) + std::exp(-x));
    case Activation::gelu:
      return x * detail::normal_cdf(x);
    case Activation::silu:
      return x / (T(1) + std::exp(-x));
  }
  return x;
}

/// f'(x), given also y = f(x).
template <class T>
CAMBIUM_FN T activation_slope(Activation f, T x, T y) {
  switch (f) {
    case Activation::tanh:
      return T(1) - y * y;
    case Activation::relu:
      return x > T(0) ? T(1) : T(0);
    case Activation::sigmoid:
      return y * (T(1) - y);
    case Activation::gelu:
      return detail::normal_cdf(x) + x * std::exp(T(-0.5) * x * x) * T(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    case Activation::silu: {
      const T s = T(1) / (T(1) + std::exp(-x));
      return s * (T(1) + x * (T(1) - s));
    }
  }
  return T(1);
}

/// y[k] = f(x[k]) for n values of host memory, on all threads (tanh by packs). y may be x.
template <class T>
void activate(Activation f, std::int64_t n, const T* x, T* y);

/// by[k] *= f'(x[k]) for n values of host memory, on all threads, with y[k] = f(x[k]). For relu y may be passed for
/// both.
template <class T>
void times_slope(Activation f, std::int64_t n, const T* x, const T* y, T* by);

}  // namespace cambium
