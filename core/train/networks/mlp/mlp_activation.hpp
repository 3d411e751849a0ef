#pragma once
#include <cmath>
#include <numbers>

#include "core/base/pack.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train::detail {

template <class T>
CAMBIUM_FN T normal_cdf(T x) {
  return T(0.5) * std::erfc(-x * T(std::numbers::sqrt2 / 2.0));
}

/// For host and device alike.
template <class T>
CAMBIUM_FN T activate(Mlp::Activation kind, T x) {
  switch (kind) {
    case Mlp::Activation::tanh:
      return std::tanh(x);
    case Mlp::Activation::relu:
      return x > T(0) ? x : T(0);
    case Mlp::Activation::sigmoid:
      return T(1) / (T(1) + std::exp(-x));
    case Mlp::Activation::gelu:
      return x * normal_cdf(x);
    case Mlp::Activation::silu:
      return x / (T(1) + std::exp(-x));
  }
  return x;
}

/// Derivative by the sum x, given also the value y.
template <class T>
CAMBIUM_FN T slope(Mlp::Activation kind, T x, T y) {
  switch (kind) {
    case Mlp::Activation::tanh:
      return T(1) - y * y;
    case Mlp::Activation::relu:
      return x > T(0) ? T(1) : T(0);
    case Mlp::Activation::sigmoid:
      return y * (T(1) - y);
    case Mlp::Activation::gelu:
      return normal_cdf(x) + x * std::exp(T(-0.5) * x * x) * T(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    case Mlp::Activation::silu: {
      const T s = T(1) / (T(1) + std::exp(-x));
      return s * (T(1) + x * (T(1) - s));
    }
  }
  return T(1);
}

}  // namespace cambium::train::detail
