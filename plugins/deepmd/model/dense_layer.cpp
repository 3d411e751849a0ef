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
  const std::vector<T> weights(layer.w.begin(), layer.w.end());
  w = PackedMatrix<T>(false, in, out, weights.data(), out);
  if (backward) w_t = PackedMatrix<T>(true, out, in, weights.data(), out);
}

namespace {
lowp::RowsOf<const float> source(const Matrix<float>& x) { return {x.data(), static_cast<std::int64_t>(x.extent(1))}; }
lowp::RowsOf<float> target(const Matrix<float>& x) { return {x.data(), static_cast<std::int64_t>(x.extent(1))}; }
}  // namespace

template <class T>
void DenseLayer<T>::multiply(int rows, const Matrix<T>& x, const Matrix<T>& y) const {
  if constexpr (std::is_same_v<T, float>)
    if (tables) return lowp::multiply(tables->w, source(x), rows, false, target(y));
  w.multiply(rows, x.data(), static_cast<int>(x.extent(1)), false, y.data(), static_cast<int>(y.extent(1)));
}

template <class T>
void DenseLayer<T>::multiply_transposed(int rows, const Matrix<T>& y, bool add, const Matrix<T>& x) const {
  if constexpr (std::is_same_v<T, float>)
    if (tables) return lowp::multiply_transposed(tables->w, tables->by_columns, source(y), rows, add, target(x));
  w_t.multiply(rows, y.data(), static_cast<int>(y.extent(1)), add, x.data(), static_cast<int>(x.extent(1)));
}

template struct DenseLayer<double>;
template struct DenseLayer<float>;

}  // namespace cambium::deepmd
