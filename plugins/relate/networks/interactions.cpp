#include "plugins/relate/networks/interactions.hpp"

#include <algorithm>

#include "core/numerics/lanes.hpp"

namespace cambium::relate {

namespace {

constexpr int tile = 4;  // tile^2 sums and 2 tile factors stay in registers

int pair(int i, int j) { return i * (i - 1) / 2 + j; }

}  // namespace

template <class T>
T* Interactions<T>::block(int number) {
  return z_.data() + static_cast<std::ptrdiff_t>(number) * vectors_ * width_ * native_width<T>;
}

/// Products of vectors i0 to i0 + I - 1 and j0 to j0 + J - 1; those with j < i are stored.
template <class T, int I, int J>
static void product_tile(const T* z, int width, int i0, int j0, T* out) {
  constexpr int w = native_width<T>;
  using P = Pack<T, w>;
  P sum[I][J];
  for (int i = 0; i < I; ++i)
    for (int j = 0; j < J; ++j) sum[i][j] = P(T(0));
  for (int k = 0; k < width; ++k) {
    P b[J];
    for (int j = 0; j < J; ++j) b[j] = P::load(z + ((j0 + j) * width + k) * w);
    for (int i = 0; i < I; ++i) {
      const P a = P::load(z + ((i0 + i) * width + k) * w);
      for (int j = 0; j < J; ++j) sum[i][j] = fma(a, b[j], sum[i][j]);
    }
  }
  for (int i = 0; i < I; ++i)
    for (int j = 0; j < J && j0 + j < i0 + i; ++j) sum[i][j].store(out + pair(i0 + i, j0 + j) * w);
}

template <class T>
void Interactions<T>::products(const T* z) {
  T* out = pairs_.data();
  for (int i = 0; i < vectors_; i += tile) {
    const bool full = i + tile <= vectors_;
    for (int j = 0; j < i + tile; j += tile)
      if (full && j + tile <= vectors_)
        product_tile<T, tile, tile>(z, width_, i, j, out);
      else
        for (int a = i; a < std::min(i + tile, vectors_); ++a)
          for (int b = j; b < std::min(j + tile, a); ++b) product_tile<T, 1, 1>(z, width_, a, b, out);
  }
}

/// Derivatives by elements k0 to k0 + K - 1 of vectors i0 to i0 + I - 1, over all others in ascending order.
template <class T, int I, int K>
static void derivative_tile(const T* z, const T* by, int vectors, int width, int i0, int k0, T* out) {
  constexpr int w = native_width<T>;
  using P = Pack<T, w>;
  P sum[I][K];
  for (int i = 0; i < I; ++i)
    for (int k = 0; k < K; ++k) sum[i][k] = P(T(0));
  for (int j = 0; j < vectors; ++j) {
    P b[K];
    for (int k = 0; k < K; ++k) b[k] = P::load(z + (j * width + k0 + k) * w);
    for (int i = 0; i < I; ++i) {
      if (i0 + i == j) continue;
      const P g = P::load(by + (j < i0 + i ? pair(i0 + i, j) : pair(j, i0 + i)) * w);
      for (int k = 0; k < K; ++k) sum[i][k] = fma(g, b[k], sum[i][k]);
    }
  }
  for (int i = 0; i < I; ++i)
    for (int k = 0; k < K; ++k) sum[i][k].store(out + ((i0 + i) * width + k0 + k) * w);
}

template <class T>
void Interactions<T>::derivatives(const T* z) {
  for (int i = 0; i < vectors_; i += tile)
    for (int k = 0; k < width_; k += tile)
      if (i + tile <= vectors_ && k + tile <= width_)
        derivative_tile<T, tile, tile>(z, pairs_.data(), vectors_, width_, i, k, by_one_.data());
      else
        for (int a = i; a < std::min(i + tile, vectors_); ++a)
          for (int b = k; b < std::min(k + tile, width_); ++b)
            derivative_tile<T, 1, 1>(z, pairs_.data(), vectors_, width_, a, b, by_one_.data());
}

template <class T>
void Interactions<T>::forward(std::span<const Source> z, int samples, T* out, std::ptrdiff_t stride) {
  constexpr int w = native_width<T>;
  samples_ = samples;
  const int blocks = (samples + w - 1) / w;
  const auto size = static_cast<std::size_t>(vectors_) * static_cast<std::size_t>(width_) * w;
  z_.reserve(static_cast<std::size_t>(blocks) * size);
  pairs_.reserve(static_cast<std::size_t>(pairs()) * w);
  for (int b = 0; b < blocks; ++b) {
    const int first = b * w, count = std::min(w, samples - first);
    T* lanes = block(b);
    for (int v = 0; v < vectors_; ++v)
      to_lanes(z[v].rows + first * z[v].stride, z[v].stride, count, width_, lanes + v * width_ * w);
    products(lanes);
    from_lanes(pairs_.data(), count, pairs(), false, out + first * stride, stride);
  }
}

template <class T>
void Interactions<T>::backward(const T* by, std::ptrdiff_t stride, std::span<const Target> by_z) {
  constexpr int w = native_width<T>;
  by_one_.reserve(static_cast<std::size_t>(vectors_) * static_cast<std::size_t>(width_) * w);
  for (int b = 0; b * w < samples_; ++b) {
    const int first = b * w, count = std::min(w, samples_ - first);
    to_lanes(by + first * stride, stride, count, pairs(), pairs_.data());
    derivatives(block(b));
    for (int v = 0; v < vectors_; ++v) {
      const Target& to = by_z[v];
      from_lanes(by_one_.data() + v * width_ * w, count, width_, true, to.rows + first * to.stride, to.stride);
    }
  }
}

template class Interactions<double>;
template class Interactions<float>;

}  // namespace cambium::relate
