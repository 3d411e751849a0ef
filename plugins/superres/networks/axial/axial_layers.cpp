#include "plugins/superres/networks/axial/axial_layers.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/recorder.hpp"
#include "core/numerics/activation.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium::superres {
namespace {

constexpr auto bend = Activation::gelu;
constexpr double least_variance = 1e-5;
// Parameters of a layer, as offsets from its first.
constexpr int of_norm1 = 0, of_qkv = 2, of_bias = 4, of_out = 6, of_norm2 = 8, of_mlp = 10, of_mlp_out = 12;

template <class T>
void add(const std::vector<T>& y, std::vector<T>& x) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] += y[k];
}

template <class T>
T* of(std::span<const TensorRef> arrays, int parameter) {
  return static_cast<T*>(arrays[static_cast<std::size_t>(parameter)].data);
}

}  // namespace

/// Calls tell(index in planes, index in rows of patches) for every point.
template <class T>
template <class F>
void AxialLayers<T>::each_point(int channels, const F& tell) const {
  const auto &n = shape_.points, &p = shape_.patch;
  std::size_t plane = 0;
  for (int s = 0; s < samples_; ++s)
    for (int c = 0; c < channels; ++c)
      for (int x = 0; x < n[0]; ++x)
        for (int z = 0; z < n[1]; ++z) {
          const auto row = static_cast<std::size_t>((s * shape_.tokens(0) + x / p[0]) * shape_.tokens(1) + z / p[1]);
          const auto column = static_cast<std::size_t>((c * p[0] + x % p[0]) * p[1] + z % p[1]);
          tell(plane++, row * static_cast<std::size_t>(channels * shape_.patch_points()) + column);
        }
}

template <class T>
std::vector<T> AxialLayers<T>::dense(int parameter, int in, int out, const Values& x) const {
  Values y(static_cast<std::size_t>(rows()) * out);
  for (int r = 0; r < rows(); ++r)
    std::copy_n(weight(parameter + 1), out, y.data() + static_cast<std::size_t>(r) * out);
  host_gemm<T>(false, false, rows(), out, in, T(1), x.data(), in, weight(parameter), out, T(1), y.data(), out);
  return y;
}

template <class T>
std::vector<T> AxialLayers<T>::dense_backward(int parameter, int in, int out, const Values& x, const Values& by_y,
                                              std::span<const TensorRef> gradients, bool by_x) const {
  T* const by_b = of<T>(gradients, parameter + 1);
  for (std::size_t r = 0; r < by_y.size(); r += out)
    for (int o = 0; o < out; ++o) by_b[o] += by_y[r + o];
  host_gemm<T>(true, false, in, out, rows(), T(1), x.data(), in, by_y.data(), out, T(1), of<T>(gradients, parameter),
               out);
  Values back(by_x ? x.size() : 0);
  if (by_x)
    host_gemm<T>(false, true, rows(), in, out, T(1), by_y.data(), out, weight(parameter), out, T(0), back.data(), in);
  return back;
}

template <class T>
std::vector<T> AxialLayers<T>::normed(int parameter, const Values& x, Norm& norm) const {
  const KernelRegion region("layer norm", WorkKind::reduction);
  const auto width = static_cast<std::size_t>(shape_.width);
  const T *const scale = weight(parameter), *const shift = weight(parameter + 1);
  norm.scaled.resize(x.size());
  norm.inverse.clear();
  Values y(x.size());
  for (std::size_t r = 0; r < x.size(); r += width) {
    T mean = T(0), variance = T(0);
    for (std::size_t k = 0; k < width; ++k) mean += x[r + k];
    mean /= static_cast<T>(width);
    for (std::size_t k = 0; k < width; ++k) variance += (x[r + k] - mean) * (x[r + k] - mean);
    norm.inverse.push_back(T(1) / std::sqrt(variance / static_cast<T>(width) + static_cast<T>(least_variance)));
    for (std::size_t k = 0; k < width; ++k) {
      norm.scaled[r + k] = (x[r + k] - mean) * norm.inverse.back();
      y[r + k] = norm.scaled[r + k] * scale[k] + shift[k];
    }
  }
  return y;
}

template <class T>
void AxialLayers<T>::norm_backward(int parameter, const Norm& norm, const Values& by_y,
                                   std::span<const TensorRef> gradients, Values& by_x) const {
  const KernelRegion region("slope of the layer norm", WorkKind::reduction);
  const auto width = static_cast<std::size_t>(shape_.width);
  const T* const scale = weight(parameter);
  T *const by_scale = of<T>(gradients, parameter), *const by_shift = of<T>(gradients, parameter + 1);
  for (std::size_t r = 0; r < by_y.size(); r += width) {
    T mean = T(0), along = T(0);
    for (std::size_t k = 0; k < width; ++k) {
      by_scale[k] += by_y[r + k] * norm.scaled[r + k];
      by_shift[k] += by_y[r + k];
      mean += by_y[r + k] * scale[k];
      along += by_y[r + k] * scale[k] * norm.scaled[r + k];
    }
    mean /= static_cast<T>(width);
    along /= static_cast<T>(width);
    for (std::size_t k = 0; k < width; ++k)
      by_x[r + k] += norm.inverse[r / width] * (by_y[r + k] * scale[k] - mean - norm.scaled[r + k] * along);
  }
}

template <class T>
void AxialLayers<T>::add_positions(Values& x) const {
  const int width = shape_.width, nz = shape_.tokens(1), nx = shape_.tokens(0);
  for (int r = 0; r < rows(); ++r)
    for (int k = 0; k < width; ++k) {
      T& value = x[static_cast<std::size_t>(r) * width + k];
      value += weight(2)[r % nz * width + k];
      if (!shape_.wraps) value += weight(3)[r / nz % nx * width + k];
    }
}

template <class T>
void AxialLayers<T>::positions_backward(const Values& by_x, std::span<const TensorRef> gradients) const {
  const int width = shape_.width, nz = shape_.tokens(1), nx = shape_.tokens(0);
  for (int r = 0; r < rows(); ++r)
    for (int k = 0; k < width; ++k) {
      const T value = by_x[static_cast<std::size_t>(r) * width + k];
      of<T>(gradients, 2)[r % nz * width + k] += value;
      if (!shape_.wraps) of<T>(gradients, 3)[r / nz % nx * width + k] += value;
    }
}

template <class T>
void AxialLayers<T>::layer_forward(int first, Layer& layer, Values& x) const {
  const int width = shape_.width, hidden = shape_.hidden;
  layer.first = normed(first + of_norm1, x, layer.norm1);
  layer.qkv = dense(first + of_qkv, width, 3 * width, layer.first);
  layer.mixed.assign(x.size(), T(0));
  layer.attention.clear();
  for (int axis = 0; axis < 2; ++axis)
    layer.attention.emplace_back(shape_, axis, samples_)
        .forward(layer.qkv, weight(first + of_bias + axis), layer.mixed);
  add(dense(first + of_out, width, width, layer.mixed), x);
  layer.second = normed(first + of_norm2, x, layer.norm2);
  layer.sums = dense(first + of_mlp, width, hidden, layer.second);
  {
    const KernelRegion region("activation", WorkKind::transcendental);
    layer.bent.resize(layer.sums.size());
    for (std::size_t k = 0; k < layer.sums.size(); ++k) layer.bent[k] = activated(bend, layer.sums[k]);
  }
  add(dense(first + of_mlp_out, hidden, width, layer.bent), x);
}

template <class T>
void AxialLayers<T>::layer_backward(int first, const Layer& layer, std::span<const TensorRef> gradients,
                                    Values& by_x) const {
  const int width = shape_.width, hidden = shape_.hidden;
  auto by_sums = dense_backward(first + of_mlp_out, hidden, width, layer.bent, by_x, gradients);
  {
    const KernelRegion region("slope of the activation", WorkKind::transcendental);
    for (std::size_t k = 0; k < by_sums.size(); ++k) by_sums[k] *= activation_slope(bend, layer.sums[k], T(0));
  }
  norm_backward(first + of_norm2, layer.norm2,
                dense_backward(first + of_mlp, width, hidden, layer.second, by_sums, gradients), gradients, by_x);
  const auto by_mixed = dense_backward(first + of_out, width, width, layer.mixed, by_x, gradients);
  Values by_qkv(layer.qkv.size(), T(0));
  for (int axis = 0; axis < 2; ++axis)
    layer.attention[axis].backward(layer.qkv, by_mixed, by_qkv, of<T>(gradients, first + of_bias + axis));
  norm_backward(first + of_norm1, layer.norm1,
                dense_backward(first + of_qkv, width, 3 * width, layer.first, by_qkv, gradients), gradients, by_x);
}

template <class T>
const std::vector<T>& AxialLayers<T>::forward(std::vector<T> inputs, int samples, const train::ReadyCallback& ready) {
  samples_ = samples;
  const auto modules = axial_modules(shape_);
  const int points = shape_.patch_points(), layers = shape_.layers;
  patches_.resize(inputs.size());
  each_point(shape_.inputs, [&](std::size_t plane, std::size_t row) { patches_[row] = inputs[plane]; });
  ready.forward(0);
  Values x = dense(0, shape_.inputs * points, shape_.width, patches_);
  add_positions(x);
  ready.release(0);
  layers_ = std::vector<Layer>(static_cast<std::size_t>(layers));
  for (int l = 0; l < layers; ++l) {
    ready.forward(l + 1);
    layer_forward(modules[l + 1], layers_[l], x);
    ready.release(l + 1);
  }
  ready.forward(layers + 1);
  last_ = normed(modules.back(), x, norm_);
  const auto y = dense(modules.back() + 2, shape_.width, shape_.outputs * points, last_);
  ready.release(layers + 1);
  output_.resize(y.size());
  each_point(shape_.outputs, [&](std::size_t plane, std::size_t row) { output_[plane] = y[row]; });
  return output_;
}

template <class T>
void AxialLayers<T>::backward(std::vector<T> by_output, std::span<const TensorRef> gradients,
                              const train::ReadyCallback& ready) {
  auto modules = axial_modules(shape_);
  const int points = shape_.patch_points(), layers = shape_.layers;
  modules.push_back(static_cast<int>(weights_.size()));
  const auto done = [&](int module) {
    for (int p = modules[module + 1] - 1; ready && p >= modules[module]; --p) ready(p);
    ready.release(module);
  };
  Values by_rows(by_output.size()), by_x(last_.size(), T(0));
  each_point(shape_.outputs, [&](std::size_t plane, std::size_t row) { by_rows[row] = by_output[plane]; });
  ready.backward(layers + 1);
  const int end = modules[layers + 1];
  norm_backward(end, norm_, dense_backward(end + 2, shape_.width, shape_.outputs * points, last_, by_rows, gradients),
                gradients, by_x);
  done(layers + 1);
  for (int l = layers - 1; l >= 0; --l) {
    ready.backward(l + 1);
    layer_backward(modules[l + 1], layers_[l], gradients, by_x);
    done(l + 1);
  }
  ready.backward(0);
  positions_backward(by_x, gradients);
  dense_backward(0, shape_.inputs * points, shape_.width, patches_, by_x, gradients, false);
  done(0);
}

template class AxialLayers<double>;
template class AxialLayers<float>;

}  // namespace cambium::superres
