#include "plugins/deepmd/model/dense_layer.hpp"

#include "core/base/error.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
View<T*> padded_copy(const std::string& label, const std::vector<double>& values, int n, double fallback) {
  View<T*> out(label, static_cast<std::size_t>(padded<T>(n)));
  auto host = Kokkos::create_mirror_view(out);
  for (int k = 0; k < n; ++k) host(k) = static_cast<T>(values.empty() ? fallback : values[k]);
  Kokkos::deep_copy(out, host);
  return out;
}

}  // namespace

template <class T>
DenseLayer<T>::DenseLayer(const Layer& layer, bool backward, const lowp::BinaryCodedMatrix& coded)
    : in(layer.in), out(layer.out), copies(layer.copies()), activation(layer.activation),
      b(padded_copy<T>("dense_layer: b", layer.b, layer.out, 0.0)),
      scale(padded_copy<T>("dense_layer: idt", layer.idt, layer.out, 1.0)) {
  if (in == 1) row = padded_copy<T>("dense_layer: row", layer.w, layer.out, 0.0);
  if (coded.rows > 0) {
    if (!std::is_same_v<T, float> || !device_is_host)
      throw InternalError("products by tables are for float32 on a host");
    tables = TableProducts{coded, lowp::transposed_planes(coded)};
    return;
  }
  if (factors_pay(layer)) {
    const std::vector<T> enter(layer.enter.begin(), layer.enter.end()), leave(layer.leave.begin(), layer.leave.end());
    const int rank = layer.rank;
    factors.emplace();
    factors->rank = rank;
    factors->enter = PackedMatrix<T>(false, in, rank, enter.data(), rank);
    factors->leave = PackedMatrix<T>(false, rank, out, leave.data(), out);
    if (!backward) return;
    factors->enter_t = PackedMatrix<T>(true, rank, in, enter.data(), rank);
    factors->leave_t = PackedMatrix<T>(true, out, rank, leave.data(), out);
    return;
  }
  const std::vector<T> weights(layer.w.begin(), layer.w.end());
  w = PackedMatrix<T>(false, in, out, weights.data(), out);
  if (backward) w_t = PackedMatrix<T>(true, out, in, weights.data(), out);
}

namespace {
lowp::RowsOf<const float> source(const Matrix<float>& x) { return {x.data(), static_cast<std::int64_t>(x.extent(1))}; }
lowp::RowsOf<float> target(const Matrix<float>& x) { return {x.data(), static_cast<std::int64_t>(x.extent(1))}; }

template <class T>
int stride_of(const Matrix<T>& x) {
  return static_cast<int>(x.extent(1));
}
}  // namespace

template <class T>
void DenseLayer<T>::multiply(int rows, const T* x, int stride_x, T* y, int stride_y, Matrix<T>& between) const {
  if (!factors) return w.multiply(rows, x, stride_x, false, y, stride_y);
  reserve(between, "dense_layer: between", rows, factors->rank);
  factors->enter.multiply(rows, x, stride_x, false, between.data(), stride_of(between));
  factors->leave.multiply(rows, between.data(), stride_of(between), false, y, stride_y);
}

template <class T>
void DenseLayer<T>::multiply(int rows, const Matrix<T>& x, const Matrix<T>& y, Matrix<T>& between) const {
  if constexpr (std::is_same_v<T, float>)
    if (tables) return lowp::multiply(tables->w, source(x), rows, false, target(y));
  multiply(rows, x.data(), stride_of(x), y.data(), stride_of(y), between);
}

template <class T>
void DenseLayer<T>::multiply_transposed(int rows, const Matrix<T>& y, bool add, const Matrix<T>& x,
                                        Matrix<T>& between) const {
  if constexpr (std::is_same_v<T, float>)
    if (tables) return lowp::multiply_transposed(tables->w, tables->by_columns, source(y), rows, add, target(x));
  if (!factors) return w_t.multiply(rows, y.data(), stride_of(y), add, x.data(), stride_of(x));
  reserve(between, "dense_layer: between", rows, factors->rank);
  factors->leave_t.multiply(rows, y.data(), stride_of(y), false, between.data(), stride_of(between));
  factors->enter_t.multiply(rows, between.data(), stride_of(between), add, x.data(), stride_of(x));
}

template struct DenseLayer<double>;
template struct DenseLayer<float>;

}  // namespace cambium::deepmd
