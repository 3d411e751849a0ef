#include "plugins/relate/networks/dense_stack.hpp"

#include <fmt/format.h>

#include "core/numerics/dense_layer.hpp"

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
    DenseLayer<T>{in, out, w, b}.forward(samples, values_[l].data(), y.data());
    if (rectifies(l)) activate(Activation::relu, std::ssize(y), y.data(), y.data());
  }
  return values_.back();
}

template <class T>
std::vector<T> DenseStack<T>::backward(std::span<const TensorRef> weights, std::vector<T> by,
                                       std::span<const TensorRef> gradients, const train::ReadyCallback& ready) {
  for (std::size_t l = layers(); l-- > 0;) {
    const int in = static_cast<int>(widths_[l]), out = static_cast<int>(widths_[l + 1]);
    const T* const values = values_[l + 1].data();
    if (rectifies(l)) times_slope(Activation::relu, std::ssize(by), values, values, by.data());
    const std::size_t w = first_ + 2 * l, b = w + 1;
    const DenseGradient<T> gradient{in, out, static_cast<T*>(gradients[w].data), static_cast<T*>(gradients[b].data)};
    gradient.add_bias(samples_, by.data());
    gradient.add_weights(samples_, values_[l].data(), by.data());
    if (ready) {
      ready(static_cast<int>(b));
      ready(static_cast<int>(w));
    }
    std::vector<T> before(static_cast<std::size_t>(samples_) * static_cast<std::size_t>(in));
    DenseLayer<T>{in, out, static_cast<const T*>(weights[w].data)}.input_gradient(samples_, by.data(), before.data());
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
