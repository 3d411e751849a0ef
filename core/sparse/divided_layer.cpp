#include "core/sparse/divided_layer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium::sparse {

namespace {

/// A matrix of weights, or columns of one.
template <class T>
struct Weights {
  const T* data;
  std::int64_t rows, columns, stride;
};

/// out = H W: row by row, one sum after the other, so that a row's bits depend on nothing else.
template <class T>
void multiply_in_order(Rows<const T> h, const Weights<T>& w, Rows<T> out) {
  for (std::int64_t i = 0; i < h.rows; ++i) {
    T* to = out.row(i);
    std::fill_n(to, w.columns, T(0));
    for (std::int64_t k = 0; k < w.rows; ++k) {
      const T factor = h.row(i)[k];
      const T* from = w.data + k * w.stride;
      for (std::int64_t j = 0; j < w.columns; ++j) to[j] = std::fma(factor, from[j], to[j]);
    }
  }
}

/// gradient += H^T G, in the order of rows.
template <class T>
void add_in_order(Rows<const T> h, Rows<const T> g, T* gradient) {
  for (std::int64_t i = 0; i < h.rows; ++i)
    for (std::int64_t k = 0; k < h.width; ++k) {
      const T factor = h.row(i)[k];
      const T* from = g.row(i);
      T* to = gradient + k * g.width;
      for (std::int64_t j = 0; j < g.width; ++j) to[j] = std::fma(factor, from[j], to[j]);
    }
}

template <class T>
Rows<const T> some_rows(Rows<const T> h, std::int64_t begin, std::int64_t rows) {
  return {h.row(begin), rows, h.width, h.stride};
}

template <class T>
Rows<const T> counted(const DividedProduct<T>& product, Rows<const T> h) {
  const Share share = product.share();
  return some_rows(h, share.counted().begin - share.rows.begin, share.counted().size());
}

void require(bool good) {
  if (!good) throw InternalError("a layer's weights do not fit its matrices");
}

}  // namespace

template <class T>
void times_weights(const DividedProduct<T>& product, Rows<const T> h, std::span<const T> weights, Rows<T> out) {
  const std::int64_t f_out = h.width > 0 ? std::ssize(weights) / h.width : 0;
  const Range columns = product.share().columns(f_out);
  require(h.width * f_out == std::ssize(weights) && out.width == columns.size() && out.rows == h.rows);
  if (out.rows == 0 || out.width == 0) return;
  const Weights<T> w{weights.data() + columns.begin, h.width, columns.size(), f_out};
  if (product.keys().ordered) return multiply_in_order(h, w, out);
  host_gemm<T>(false, false, static_cast<int>(h.rows), static_cast<int>(w.columns), static_cast<int>(w.rows), T(1),
               h.data, static_cast<int>(h.stride), w.data, static_cast<int>(f_out), T(0), out.data,
               static_cast<int>(out.stride));
}

template <class T>
void times_transposed_weights(const DividedProduct<T>& product, Rows<const T> g, std::span<const T> weights,
                              Rows<T> out) {
  const std::int64_t f_out = g.width, f_in = f_out > 0 ? std::ssize(weights) / f_out : 0;
  const Range columns = product.share().columns(f_in);
  require(f_in * f_out == std::ssize(weights) && out.width == columns.size() && out.rows == g.rows);
  if (out.rows == 0 || out.width == 0) return;
  const T* w = weights.data() + columns.begin * f_out;
  if (product.keys().ordered) {
    std::vector<T> turned(at(columns.size() * f_out));
    for (std::int64_t k = 0; k < columns.size(); ++k)
      for (std::int64_t j = 0; j < f_out; ++j) turned[at(j * columns.size() + k)] = w[k * f_out + j];
    return multiply_in_order(g, {turned.data(), f_out, columns.size(), columns.size()}, out);
  }
  host_gemm<T>(false, true, static_cast<int>(g.rows), static_cast<int>(columns.size()), static_cast<int>(f_out), T(1),
               g.data, static_cast<int>(g.stride), w, static_cast<int>(f_out), T(0), out.data,
               static_cast<int>(out.stride));
}

template <class T>
void add_weight_gradient(const DividedProduct<T>& product, std::int64_t f_in, Rows<const T> h, Rows<const T> g,
                         std::span<T> gradient) {
  const Range columns = product.share().columns(f_in);
  require(h.rows == g.rows && h.width == columns.size() && f_in * g.width == std::ssize(gradient));
  const auto own_h = counted(product, h), own_g = counted(product, g);
  if (product.keys().ordered)
    return add_in_turn<T>(product.comm(), true, gradient,
                          [&](std::span<T> sums) { add_in_order(own_h, own_g, sums.data()); });
  if (own_h.rows == 0 || own_h.width == 0 || g.width == 0) return;
  host_gemm<T>(true, false, static_cast<int>(own_h.width), static_cast<int>(g.width), static_cast<int>(own_h.rows),
               T(1), own_h.data, static_cast<int>(own_h.stride), own_g.data, static_cast<int>(own_g.stride), T(1),
               gradient.data() + columns.begin * g.width, static_cast<int>(g.width));
}

template <class T>
void add_bias_gradient(const DividedProduct<T>& product, std::int64_t f_out, Rows<const T> g, std::span<T> gradient) {
  const Range columns = product.share().columns(f_out);
  require(g.width == columns.size() && f_out == std::ssize(gradient));
  const auto own = counted(product, g);
  add_in_turn<T>(product.comm(), product.keys().ordered, gradient, [&](std::span<T> sums) {
    for (std::int64_t i = 0; i < own.rows; ++i)
      for (std::int64_t k = 0; k < own.width; ++k) sums[at(columns.begin + k)] += own.row(i)[k];
  });
}

template <class T>
void log_softmax(DividedProduct<T>& product, std::int64_t width, Rows<T> z) {
  require(z.width == product.share().columns(width).size());
  std::vector<T> of_rows(at(z.rows), -std::numeric_limits<T>::infinity());
  for (std::int64_t i = 0; i < z.rows; ++i)
    for (std::int64_t k = 0; k < z.width; ++k) of_rows[at(i)] = std::max(of_rows[at(i)], z.row(i)[k]);
  product.max_parts(of_rows);
  for (std::int64_t i = 0; i < z.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = 0; k < z.width; ++k) {
      z.row(i)[k] -= of_rows[at(i)];
      sum += std::exp(z.row(i)[k]);
    }
    of_rows[at(i)] = sum;
  }
  product.sum_parts(of_rows);
  for (std::int64_t i = 0; i < z.rows; ++i)
    for (std::int64_t k = 0; k < z.width; ++k) z.row(i)[k] -= std::log(of_rows[at(i)]);
}

template <class V>
void add_in_turn(const Comm& comm, bool ordered, std::span<V> sums, const std::function<void(std::span<V>)>& add) {
  if (!ordered) return add(sums);
  constexpr int turn_tag = 32;
  const int bytes = static_cast<int>(sums.size() * sizeof(V));
  std::vector<V> so_far(sums.size(), V(0));
  if (comm.rank() > 0)
    MPI_Recv(so_far.data(), bytes, MPI_BYTE, comm.rank() - 1, turn_tag, comm.handle(), MPI_STATUS_IGNORE);
  add(so_far);
  if (comm.rank() + 1 < comm.size())
    MPI_Send(so_far.data(), bytes, MPI_BYTE, comm.rank() + 1, turn_tag, comm.handle());
  else
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += so_far[k];
}

#define CAMBIUM_DENSE(T)                                                                                        \
  template void times_weights(const DividedProduct<T>&, Rows<const T>, std::span<const T>, Rows<T>);            \
  template void times_transposed_weights(const DividedProduct<T>&, Rows<const T>, std::span<const T>, Rows<T>); \
  template void add_weight_gradient(const DividedProduct<T>&, std::int64_t, Rows<const T>, Rows<const T>,       \
                                    std::span<T>);                                                              \
  template void add_bias_gradient(const DividedProduct<T>&, std::int64_t, Rows<const T>, std::span<T>);         \
  template void log_softmax(DividedProduct<T>&, std::int64_t, Rows<T>);                                         \
  template void add_in_turn(const Comm&, bool, std::span<T>, const std::function<void(std::span<T>)>&);
CAMBIUM_DENSE(double)
CAMBIUM_DENSE(float)
#undef CAMBIUM_DENSE

}  // namespace cambium::sparse
