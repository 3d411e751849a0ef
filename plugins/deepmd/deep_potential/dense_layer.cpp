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
DenseLayer<T>::DenseLayer(const Layer& layer)
    : in(layer.in), out(layer.out), copies(layer.copies()), activation(layer.activation),
      w("dense_layer: w", static_cast<std::size_t>(layer.in), static_cast<std::size_t>(layer.out)),
      b(padded_copy<T>("dense_layer: b", layer.b, layer.out, 0.0)),
      scale(padded_copy<T>("dense_layer: idt", layer.idt, layer.out, 1.0)) {
  auto host = Kokkos::create_mirror_view(w);
  for (int i = 0; i < in; ++i)
    for (int o = 0; o < out; ++o)
      host(i, o) = static_cast<T>(layer.w[static_cast<std::size_t>(i) * static_cast<std::size_t>(out) + static_cast<std::size_t>(o)]);
  Kokkos::deep_copy(w, host);
}

template struct DenseLayer<double>;
template struct DenseLayer<float>;

}  // namespace cambium::deepmd
