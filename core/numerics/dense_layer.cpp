#include "core/numerics/dense_layer.hpp"

#include <algorithm>
#include <type_traits>

#include "core/base/pack_math.hpp"
#include "core/base/recorder.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/padded_packs.hpp"
#include "core/parallel/host_threads.hpp"

namespace cambium {

namespace {

/// Number of values worth a thread: some microseconds of copies or of activations.
constexpr std::int64_t enough_values = 4096, enough_activations = 512;

/// g(f as a type), so that a loop over values is instantiated per activation and has no branch.
template <class G>
void with_activation(Activation f, const G& g) {
  using A = Activation;
  switch (f) {
    case A::tanh:
      return g(std::integral_constant<A, A::tanh>());
    case A::relu:
      return g(std::integral_constant<A, A::relu>());
    case A::sigmoid:
      return g(std::integral_constant<A, A::sigmoid>());
    case A::gelu:
      return g(std::integral_constant<A, A::gelu>());
    case A::silu:
      return g(std::integral_constant<A, A::silu>());
  }
}

/// The library's tanh, value by value, would take as long as much of the products.
template <class T>
void activate_share(Activation f, std::int64_t n, const T* x, T* y) {
  if (f == Activation::tanh)
    return by_packs<T>(n, [&](std::int64_t k, int count) { store_some(tanh(load_some(x + k, count)), y + k, count); });
  with_activation(f, [&](auto kind) {
    if (x == y)  // separate loops, since compilers do not vectorise if the two may overlap
      for (std::int64_t k = 0; k < n; ++k) y[k] = activated(kind(), y[k]);
    else
      for (std::int64_t k = 0; k < n; ++k) y[k] = activated(kind(), x[k]);
  });
}

}  // namespace

template <class T>
void activate(Activation f, std::int64_t n, const T* x, T* y) {
  const KernelRegion region("activation", WorkKind::transcendental);
  in_shares(n, enough_activations,
            [&](std::int64_t first, std::int64_t last) { activate_share(f, last - first, x + first, y + first); });
}

template <class T>
void times_slope(Activation f, std::int64_t n, const T* x, const T* y, T* by) {
  const KernelRegion region("slope of the activation", WorkKind::elementwise);
  in_shares(n, enough_activations, [&](std::int64_t first, std::int64_t last) {
    with_activation(f, [&](auto kind) {
      for (std::int64_t k = first; k < last; ++k) by[k] *= activation_slope(kind(), x[k], y[k]);
    });
  });
}

template <class T>
void DenseLayer<T>::begin(std::int64_t rows, T* z) const {
  in_shares(rows, 1 + enough_values / std::max<std::int64_t>(out, 1), [&](std::int64_t first, std::int64_t last) {
    if (!bias) return void(std::fill(z + first * out, z + last * out, T(0)));
    for (std::int64_t row = first; row < last; ++row) std::copy_n(bias, out, z + row * out);
  });
}

template <class T>
void DenseLayer<T>::forward(std::int64_t rows, const T* x, T* z) const {
  if (bias) begin(rows, z);
  host_gemm<T>(false, false, rows, out, in, T(1), x, in, weights, out, bias ? T(1) : T(0), z, out);
}

template <class T>
void DenseLayer<T>::add_product(std::int64_t rows, const T* x, T* z) const {
  host_gemm<T>(false, false, rows, out, in, T(1), x, in, weights, out, T(1), z, out);
}

template <class T>
void DenseLayer<T>::input_gradient(std::int64_t rows, const T* by_z, T* by_x, bool add) const {
  host_gemm<T>(false, true, rows, in, out, T(1), by_z, out, weights, out, add ? T(1) : T(0), by_x, in);
}

template <class T>
void DenseGradient<T>::add_weights(std::int64_t rows, const T* x, const T* by_z) const {
  host_gemm<T>(true, false, in, out, rows, T(1), x, in, by_z, out, T(1), weights, out);
}

template <class T>
void DenseGradient<T>::add_bias(std::int64_t rows, const T* by_z) const {
  if (!bias) return;
  in_shares(out, 1 + enough_values / std::max<std::int64_t>(rows, 1), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t k = first; k < last; ++k) bias[k] += by_z[row * out + k];
  });
}

#define CAMBIUM_DENSE_LAYER(T)                                                 \
  template void activate(Activation, std::int64_t, const T*, T*);              \
  template void times_slope(Activation, std::int64_t, const T*, const T*, T*); \
  template struct DenseLayer<T>;                                               \
  template struct DenseGradient<T>;
CAMBIUM_DENSE_LAYER(double)
CAMBIUM_DENSE_LAYER(float)
#undef CAMBIUM_DENSE_LAYER

}  // namespace cambium
