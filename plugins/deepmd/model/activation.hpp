#pragma once
#include <cmath>
#include <string>

#include "core/base/pack.hpp"

namespace cambium::deepmd {

/// An activation function of DeePMD-kit's networks. Trivially copyable: kernels take it by value.
struct Activation {
  enum class Kind { linear, tanh, relu, relu6, gelu, softplus, sigmoid, silu, silut };
  Kind kind = Kind::linear;
  double threshold = 0.0;  ///< silut only: silu below it, beyond it tanh(slope (x - threshold)) + offset
  double slope = 0.0, offset = 0.0;

  /// "tanh", "relu", "relu6", "gelu", "gelu_tf", "softplus", "sigmoid", "silu", "silut[:threshold]", "linear", "none";
  /// case-insensitive. InputError (listing these) for another name.
  static Activation from_name(const std::string& name);
  std::string name() const;
  /// False if the second derivative is discontinuous, so that no table converges at its order.
  bool smooth() const { return kind != Kind::relu && kind != Kind::relu6 && kind != Kind::silut; }
};

/// Value, first and second derivative of an activation at one point.
template <class T>
struct Jet {
  T value, first, second;
};

namespace detail {
template <class T>
CAMBIUM_FN T logistic(T x) {
  return x >= T(0) ? T(1) / (T(1) + std::exp(-x)) : std::exp(x) / (T(1) + std::exp(x));
}
template <class T>
CAMBIUM_FN Jet<T> silu(T x) {
  const T s = logistic(x), d = s * (T(1) - s);
  return {x * s, s + x * d, d * (T(2) + x * (T(1) - T(2) * s))};
}
/// Hendrycks and Gimpel's tanh approximation, denoted by both names `gelu` and `gelu_tf`.
template <class T>
CAMBIUM_FN Jet<T> gelu(T x) {
  const T a = T(0.79788456080286535588), b = T(0.044715);
  const T u = a * (x + b * x * x * x), du = a * (T(1) + T(3) * b * x * x), ddu = T(6) * a * b * x;
  const T t = std::tanh(u), dt = T(1) - t * t;
  return {T(0.5) * x * (T(1) + t), T(0.5) * (T(1) + t) + T(0.5) * x * dt * du,
          dt * du + T(0.5) * x * (dt * ddu - T(2) * t * dt * du * du)};
}
}  // namespace detail

template <class T>
CAMBIUM_FN Jet<T> evaluate(const Activation& f, T x) {
  using Kind = Activation::Kind;
  switch (f.kind) {
    case Kind::tanh: {
      const T t = std::tanh(x), d = T(1) - t * t;
      return {t, d, T(-2) * t * d};
    }
    case Kind::relu:
      return {x > T(0) ? x : T(0), x > T(0) ? T(1) : T(0), T(0)};
    case Kind::relu6: {
      const bool inside = x > T(0) && x < T(6);
      return {inside ? x : (x > T(0) ? T(6) : T(0)), inside ? T(1) : T(0), T(0)};
    }
    case Kind::gelu:
      return detail::gelu(x);
    case Kind::softplus: {
      const T s = detail::logistic(x);
      return {(x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::abs(x))), s, s * (T(1) - s)};
    }
    case Kind::sigmoid: {
      const T s = detail::logistic(x), d = s * (T(1) - s);
      return {s, d, d * (T(1) - T(2) * s)};
    }
    case Kind::silu:
      return detail::silu(x);
    case Kind::silut: {
      if (x < T(f.threshold)) return detail::silu(x);
      const T a = T(f.slope), t = std::tanh(a * (x - T(f.threshold))), d = T(1) - t * t;
      return {t + T(f.offset), a * d, T(-2) * a * a * t * d};
    }
    default:
      return {x, T(1), T(0)};
  }
}

}  // namespace cambium::deepmd
