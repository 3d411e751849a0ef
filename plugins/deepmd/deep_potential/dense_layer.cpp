#include "plugins/deepmd/deep_potential/dense_layer.hpp"

namespace cambium::deepmd {

namespace {

template <class T>
View<T*> padded_copy(const std::string& label, const std::vector<double>& values, int n, double fallback) {
  View<T*> out(label, static_cast<std::size_t>(padded<T>(n)));
  auto host = Kokkos::create_mirror_view(out);
  for (int k = 0; k < n; ++k) host(k) = static_cast<T>(values.empty() ? fallback : values[static_cast<std::size_t>(k)]);
  Kokkos::deep_copy(out, host);
  return out;
}

}  // namespace

template <class T>
DenseLayer<T>::DenseLayer(const Layer& layer, bool backward)
    : in(layer.in), out(layer.out), copies(layer.copies()), activation(layer.activation),
      b(padded_copy<T>("dense_layer: b", layer.b, layer.out, 0.0)),
      scale(padded_copy<T>("dense_layer: idt", layer.idt, layer.out, 1.0)) {
  if (in == 1) row = padded_copy<T>("dense_layer: row", layer.w, layer.out, 0.0);
  const std::vector<T> weights(layer.w.begin(), layer.w.end());
  w = PackedMatrix<T>(false, in, out, weights.data(), out);
  if (backward) w_t = PackedMatrix<T>(true, out, in, weights.data(), out);
}

template struct DenseLayer<double>;
template struct DenseLayer<float>;

}  // namespace cambium::deepmd
