#pragma once
#include <algorithm>
#include <optional>

#include "core/base/pack_math.hpp"
#include "core/lowp/binary_coding.hpp"
#include "core/numerics/packed_gemm.hpp"
#include "plugins/deepmd/model/lanes.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Matrix in kernel-accessible memory, each row padded to full packs with zeros.
template <class T>
using Matrix = View<T**>;

/// Grows `matrix` to at least rows x padded(columns); one spare row allows packs to overrun the last one. The row
/// stride is extent(1), which an earlier call may have made longer than requested.
template <class T>
void reserve(Matrix<T>& matrix, const std::string& label, int rows, int columns) {
  const std::size_t height = std::max(matrix.extent(0), static_cast<std::size_t>(rows) + 1);
  const std::size_t width = std::max(matrix.extent(1), static_cast<std::size_t>(padded<T>(columns)));
  if (matrix.extent(0) == height && matrix.extent(1) == width) return;
  matrix = Matrix<T>();  // free before allocating
  matrix = Matrix<T>(label, height, width);
}

/// A low-bit matrix multiplied by table look-up: out x in, and its signs by columns.
struct TableProducts {
  lowp::BinaryCodedMatrix w, by_columns;
  std::size_t bytes() const { return static_cast<std::size_t>(w.bytes() + by_columns.bytes()); }
};

/// Factors of a layer's matrix, w = enter leave.
template <class T>
struct LayerFactors {
  int rank = 0;
  PackedMatrix<T> enter, leave;      ///< in x rank, rank x out
  PackedMatrix<T> enter_t, leave_t;  ///< their transposes, for networks with a backward pass
  std::size_t bytes() const { return enter.bytes() + leave.bytes() + enter_t.bytes() + leave_t.bytes(); }
};

/// True for factors that need fewer multiplications than their product.
inline bool factors_pay(const Layer& layer) {
  return layer.rank > 0 && std::int64_t{layer.rank} * (layer.in + layer.out) < std::int64_t{layer.in} * layer.out;
}

/// Weights of a layer in kernel-accessible memory.
template <class T>
struct DenseLayer {
  int in = 0, out = 0, copies = 0;
  Activation activation;
  PackedMatrix<T> w;                       ///< in x out
  PackedMatrix<T> w_t;                     ///< its transpose, for networks with a backward pass
  View<T*> row;                            ///< in == 1: the weights, padded with zeros
  View<T*> b, scale;                       ///< padded with zeros: bias, and idt (ones if absent)
  std::optional<LayerFactors<T>> factors;  ///< instead of w and w_t, where they pay
  std::optional<TableProducts> tables;     ///< instead of w and w_t; host memory

  DenseLayer() = default;
  /// If not empty, the matrix `coded` of layer.out rows replaces the layer's own; only for float32 layers on a host.
  explicit DenseLayer(const Layer& layer, bool backward = false, const lowp::BinaryCodedMatrix& coded = {});
  std::size_t bytes() const {
    return w.bytes() + w_t.bytes() + (row.size() + b.size() + scale.size()) * sizeof(T) +
           (factors ? factors->bytes() : 0) + (tables ? tables->bytes() : 0);
  }
  /// Multiplications of the products of one row with w.
  double products() const {
    return factors ? static_cast<double>(factors->rank) * (in + out) : static_cast<double>(in) * out;
  }
  /// y = x w, for the first rows of both; `between` holds the rows between factors.
  void multiply(int rows, const Matrix<T>& x, const Matrix<T>& y, Matrix<T>& between) const;
  /// The same for rows that begin elsewhere; not for tables.
  void multiply(int rows, const T* x, int stride_x, T* y, int stride_y, Matrix<T>& between) const;
  /// x = y w^T, or x += when `add`.
  void multiply_transposed(int rows, const Matrix<T>& y, bool add, const Matrix<T>& x, Matrix<T>& between) const;
};

/// x[(c + lane) mod in] for the columns c.. of a layer that adds one or two copies of its input; 0 beyond the last.
template <class T>
CAMBIUM_FN Lane<T> load_copies(const T* x, int c, int in, int out) {
  constexpr int width = lanes<T>;
  if (c + width <= in) return Lane<T>::load(x + c);
  if (c >= in && c + width <= out) return Lane<T>::load(x + c - in);
  T values[width];
  for (int k = 0; k < width; ++k) values[k] = c + k < out ? x[c + k < in ? c + k : c + k - in] : T(0);
  return Lane<T>::load(values);
}

/// Value and derivative of an activation for a pack.
template <class T>
CAMBIUM_FN void activate(const Activation& f, Lane<T> z, Lane<T>& value, Lane<T>& first) {
  if (f.kind == Activation::Kind::tanh) {
    value = tanh(z);
    first = Lane<T>(T(1)) - value * value;
    return;
  }
  T in[lanes<T>], v[lanes<T>], d[lanes<T>];
  z.store(in);
  for (int k = 0; k < lanes<T>; ++k) {
    const Jet<T> jet = evaluate(f, in[k]);
    v[k] = jet.value;
    d[k] = jet.first;
  }
  value = Lane<T>::load(v);
  first = Lane<T>::load(d);
}

}  // namespace cambium::deepmd
