#include "plugins/sequence/networks/transformer_ops.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/pack_math.hpp"
#include "core/base/recorder.hpp"
#include "core/numerics/padded_packs.hpp"

namespace cambium::sequence {

static constexpr double epsilon = 1e-6;  ///< added to mean squares

template <class T>
void rms_norm(const T* x, const T* gain, int rows, int width, T* y, T* inverse) {
  const KernelRegion region("norm", WorkKind::reduction);
  for (int row = 0; row < rows; ++row, x += width, y += width) {
    T square[8] = {};
    for (int k = 0; k < width; ++k) square[k % 8] += x[k] * x[k];
    T sum = T(0);
    for (T part : square) sum += part;
    const T r = T(1) / std::sqrt(sum / static_cast<T>(width) + static_cast<T>(epsilon));
    inverse[row] = r;
    for (int k = 0; k < width; ++k) y[k] = x[k] * r * gain[k];
  }
}

/// With y = g x r and r = (mean x^2)^(-1/2): by_x = r g by_y - x r^3 / width sum(by_y g x).
template <class T>
void rms_norm_backward(const T* x, const T* gain, const T* inverse, const T* by_y, int rows, int width, T* by_x,
                       T* by_gain) {
  const KernelRegion region("slope of the norm", WorkKind::reduction);
  for (int row = 0; row < rows; ++row, x += width, by_y += width, by_x += width) {
    const T r = inverse[row];
    T dot[8] = {};
    for (int k = 0; k < width; ++k) {
      dot[k % 8] += by_y[k] * gain[k] * x[k];
      by_gain[k] += by_y[k] * x[k] * r;
    }
    T sum = T(0);
    for (T part : dot) sum += part;
    const T back = sum * r * r * r / static_cast<T>(width);
    for (int k = 0; k < width; ++k) by_x[k] += r * gain[k] * by_y[k] - back * x[k];
  }
}

namespace {

constexpr double root = 0.7978845608028654, cube = 0.044715;  // sqrt(2 / pi)

template <class T, int W>
Pack<T, W> inner_tanh(Pack<T, W> x) {
  using P = Pack<T, W>;
  return tanh(P(static_cast<T>(root)) * x * fma(P(static_cast<T>(cube)) * x, x, P(T(1))));
}

}  // namespace

template <class T>
void gelu(const T* x, std::int64_t n, T* y) {
  const KernelRegion region("gelu", WorkKind::transcendental);
  using P = LinePack<T>;
  by_packs<T>(n, [&](std::int64_t k, int count) {
    const P v = load_some(x + k, count);
    store_some<T>(P(T(0.5)) * v * (P(T(1)) + inner_tanh(v)), y + k, count);
  });
}

template <class T>
void gelu_backward(const T* x, std::int64_t n, T* by_y) {
  const KernelRegion region("slope of gelu", WorkKind::transcendental);
  using P = LinePack<T>;
  by_packs<T>(n, [&](std::int64_t k, int count) {
    const P v = load_some(x + k, count), t = inner_tanh(v);
    const P slope = P(static_cast<T>(root)) * fma(P(static_cast<T>(3 * cube)) * v, v, P(T(1)));
    const P d = P(T(0.5)) * (P(T(1)) + t + v * (P(T(1)) - t * t) * slope);
    store_some<T>(load_some(by_y + k, count) * d, by_y + k, count);
  });
}

template <class T>
void round_to_bfloat16(std::span<T> values) {
  const KernelRegion region("rounding", WorkKind::elementwise);
  for (T& value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    value = static_cast<T>(std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u));
  }
}

template <class T>
void round_rows_to_int8(std::span<T> values, int width) {
  const KernelRegion region("rounding", WorkKind::elementwise);
  for (std::size_t at = 0; at < values.size(); at += static_cast<std::size_t>(width)) {
    const auto row = values.subspan(at, static_cast<std::size_t>(width));
    T most = T(0);
    for (T x : row) most = std::max(most, std::abs(x));
    if (!(most > T(0))) continue;
    const T scale = T(127) / most, back = most / T(127);
    for (T& x : row) x = std::nearbyint(x * scale) * back;
  }
}

template <class T>
void round_to_ternary(std::span<T> values) {
  const KernelRegion region("rounding", WorkKind::elementwise);
  double sum = 0.0;
  for (T x : values) sum += std::abs(static_cast<double>(x));
  const T s = static_cast<T>(sum / static_cast<double>(values.size()));
  if (!(s > T(0))) return;
  for (T& x : values) x = std::clamp(std::nearbyint(x / s), T(-1), T(1)) * s;
}

#define CAMBIUM_OPS(T)                                                                       \
  template void rms_norm(const T*, const T*, int, int, T*, T*);                              \
  template void rms_norm_backward(const T*, const T*, const T*, const T*, int, int, T*, T*); \
  template void gelu(const T*, std::int64_t, T*);                                            \
  template void gelu_backward(const T*, std::int64_t, T*);                                   \
  template void round_to_bfloat16(std::span<T>);                                             \
  template void round_rows_to_int8(std::span<T>, int);                                       \
  template void round_to_ternary(std::span<T>);
CAMBIUM_OPS(float)
CAMBIUM_OPS(double)
#undef CAMBIUM_OPS

}  // namespace cambium::sequence
