#include "plugins/relate/networks/dense_stack.hpp"

#include <fmt/format.h>

#include "core/numerics/gemm.hpp"

namespace cambium::relate {

template <class T>
const std::vector<T>& DenseStack<T>::forward(std::span<const TensorRef> weights, std::vector<T> input, int samples) {
  samples_ = samples;
  values_.resize(layers() + 1);
  values_[0] = std::move(input);
  for (std::size_t l = 0; l < layers(); ++l) {
    const int in = static_cast<int>(widths_[l]), out = static_cast<int>(widths_[l + 1]);
    const T* w = static_cast<const T*>(weights[first_ + 2 * l].data);
    const T* b = static_cast<const T*>(weights[first_ + 2 * l + 1].data);
    auto& y = values_[l + 1];
    y.resize(static_cast<std::size_t>(samples) * static_cast<std::size_t>(out));
    for (int s = 0; s < samples; ++s) std::copy_n(b, out, y.data() + static_cast<std::ptrdiff_t>(s) * out);
    host_gemm<T>(false, false, samples, out, in, T(1), values_[l].data(), in, w, out, T(1), y.data(), out);
    if (rectifies(l))
      for (T& value : y) value = value > T(0) ? value : T(0);
  }
  return values_.back();
}

template <class T>
std::vector<T> DenseStack<T>::backward(std::span<const TensorRef> weights, std::vector<T> by,
                                       std::span<const TensorRef> gradients, const train::ReadyCallback& ready) {
  for (std::size_t l = layers(); l-- > 0;) {
    const int in = static_cast<int>(widths_[l]), out = static_cast<int>(widths_[l + 1]);
    if (rectifies(l))
      for (std::size_t k = 0; k < by.size(); ++k)
        if (!(values_[l + 1][k] > T(0))) by[k] = T(0);
    const std::size_t w = first_ + 2 * l, b = w + 1;
    T* by_bias = static_cast<T*>(gradients[b].data);
    for (int s = 0; s < samples_; ++s)
      for (int k = 0; k < out; ++k)
        by_bias[k] += by[static_cast<std::size_t>(s) * static_cast<std::size_t>(out) + static_cast<std::size_t>(k)];
    host_gemm<T>(true, false, in, out, samples_, T(1), values_[l].data(), in, by.data(), out, T(1),
                 static_cast<T*>(gradients[w].data), out);
    if (ready) {
      ready(static_cast<int>(b));
      ready(static_cast<int>(w));
    }
    std::vector<T> before(static_cast<std::size_t>(samples_) * static_cast<std::size_t>(in));
    host_gemm<T>(false, true, samples_, in, out, T(1), by.data(), out, static_cast<const T*>(weights[w].data), out,
                 T(0), before.data(), in);
    by = std::move(before);
  }
  return by;
}

void add_parameters(const std::string& name, const std::vector<std::int64_t>& widths,
                    std::vector<train::ParameterInfo>& out) {
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    out.push_back({fmt::format("{}.{}.w", name, l), {widths[l], widths[l + 1]}, true, false});
    out.push_back({fmt::format("{}.{}.b", name, l), {widths[l + 1]}, false, false});
  }
}

template class DenseStack<double>;
template class DenseStack<float>;

}  // namespace cambium::relate
