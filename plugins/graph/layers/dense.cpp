#include "plugins/graph/layers/dense.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cambium::graph {

namespace {

/// Columns [first, first + C) of a product, C values of several rows at once in registers; w has rows of `stride`.
template <class T, int C, int R>
void block(const Rows<const T>& h, std::int64_t row, const T* w, std::int64_t stride, T* out, std::int64_t out_stride,
           std::int64_t width, bool add) {
  T sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = add && c < width ? out[r * out_stride + c] : T(0);
  for (std::int64_t k = 0; k < h.width; ++k) {
    const T* from = w + k * stride;
    for (int r = 0; r < R; ++r) {
      const T x = h.row(row + r)[k];
      for (int c = 0; c < C; ++c) sum[r][c] = std::fma(x, from[c], sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c)
      if (c < width) out[r * out_stride + c] = sum[r][c];
}

/// All rows of columns [first, first + C).
template <class T, int C>
void columns(Rows<const T> h, const T* w, std::int64_t stride, std::int64_t first, Rows<T> out, bool add) {
  const auto width = std::min<std::int64_t>(C, out.width - first);
  std::int64_t i = 0;
  for (; i + 4 <= h.rows; i += 4) block<T, C, 4>(h, i, w + first, stride, out.row(i) + first, out.stride, width, add);
  for (; i < h.rows; ++i) block<T, C, 1>(h, i, w + first, stride, out.row(i) + first, out.stride, width, add);
}

/// Rows of w, zero-padded so that full registers can be read.
template <class T>
std::vector<T> padded(const T* w, std::int64_t rows, std::int64_t width, std::int64_t stride) {
  std::vector<T> out(rows * stride, T(0));
  for (std::int64_t k = 0; k < rows; ++k) std::copy_n(w + k * width, width, out.data() + k * stride);
  return out;
}

template <class T>
void times_padded(Rows<const T> h, const std::vector<T>& w, std::int64_t stride, Rows<T> out, bool add) {
  constexpr int wide = 128 / sizeof(T), narrow = 32 / sizeof(T);
  std::int64_t first = 0;
  while (out.width - first > narrow) columns<T, wide>(h, w.data(), stride, first, out, add), first += wide;
  if (first < out.width) columns<T, narrow>(h, w.data(), stride, first, out, add);
}

template <class T>
std::int64_t padded_stride(std::int64_t width) {
  constexpr std::int64_t wide = 128 / sizeof(T);
  return (width + wide - 1) / wide * wide;
}

}  // namespace

template <class T>
void times(Given<T> h, const T* w, std::type_identity_t<Rows<T>> out, bool add) {
  const auto stride = padded_stride<T>(out.width);
  times_padded<T>(h, padded(w, h.width, out.width, stride), stride, out, add);
}

template <class T>
void times_transposed(Given<T> g, const T* w, std::type_identity_t<Rows<T>> out, bool add) {
  const auto stride = padded_stride<T>(out.width);
  std::vector<T> turned(g.width * stride, T(0));
  for (std::int64_t k = 0; k < out.width; ++k)
    for (std::int64_t j = 0; j < g.width; ++j) turned[j * stride + k] = w[k * g.width + j];
  times_padded<T>(g, turned, stride, out, add);
}

template <class T>
void add_outer(Given<T> h, Given<T> g, T* w) {
  // Vectorises over the longer side.
  const bool turned = g.width < h.width;
  const Rows<const T>&a = turned ? g : h, &b = turned ? h : g;
  std::vector<T> sums(a.width * b.width, T(0));
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.width; ++k) {
      const T x = a.row(i)[k];
      const T* from = b.row(i);
      T* to = sums.data() + k * b.width;
      for (std::int64_t j = 0; j < b.width; ++j) to[j] = std::fma(x, from[j], to[j]);
    }
  for (std::int64_t k = 0; k < h.width; ++k)
    for (std::int64_t j = 0; j < g.width; ++j)
      w[k * g.width + j] += sums[static_cast<std::size_t>(turned ? j * h.width + k : k * g.width + j)];
}

template <class T>
void add_outer(const sparse::Csr<T>& h, std::int64_t first, std::int64_t last, Given<T> g, T* w) {
  for (auto i = first; i < last; ++i) {
    const auto columns = h.columns_of(i);
    const auto values = h.values_of(i);
    const T* from = g.row(i - first);
    for (std::size_t e = 0; e < columns.size(); ++e) {
      const T x = values[e];
      T* to = w + columns[e] * g.width;
      for (std::int64_t j = 0; j < g.width; ++j) to[j] = std::fma(x, from[j], to[j]);
    }
  }
}

template <class T>
void add_rows(Given<T> g, T* w) {
  std::vector<T> sums(g.width, T(0));
  for (std::int64_t i = 0; i < g.rows; ++i)
    for (std::int64_t j = 0; j < g.width; ++j) sums[j] += g.row(i)[j];
  for (std::int64_t j = 0; j < g.width; ++j) w[j] += sums[j];
}

#define CAMBIUM_DENSE(T)                                                                         \
  template void times(Rows<const T>, const T*, Rows<T>, bool);                                   \
  template void times_transposed(Rows<const T>, const T*, Rows<T>, bool);                        \
  template void add_outer(Rows<const T>, Rows<const T>, T*);                                     \
  template void add_outer(const sparse::Csr<T>&, std::int64_t, std::int64_t, Rows<const T>, T*); \
  template void add_rows(Rows<const T>, T*);
CAMBIUM_DENSE(double)
CAMBIUM_DENSE(float)
#undef CAMBIUM_DENSE

}  // namespace cambium::graph
