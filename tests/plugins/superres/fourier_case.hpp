#pragma once
// Fourier layers of a small shape with made-up weights, a function of (parameter, element).
#include <cmath>
#include <vector>

#include "plugins/superres/networks/fourier/fourier_layers.hpp"

namespace cambium::superres::testing {

/// Numbers between -1 and 1 that a Python oracle makes, too: sin(0.7 + 1.3 k + 0.37 seed + 0.01 k seed).
inline std::vector<double> numbers(std::size_t count, std::size_t seed) {
  std::vector<double> out;
  for (std::size_t k = 0; k < count; ++k) {
    const double at = static_cast<double>(k), s = static_cast<double>(seed);
    out.push_back(std::sin(0.7 + 1.3 * at + 0.37 * s + 0.01 * at * s));
  }
  return out;
}

template <class T>
struct Arrays {
  std::vector<std::vector<T>> memory;
  std::vector<TensorRef> views;
  explicit Arrays(const FourierShape& shape) {
    for (const auto& info : fourier_parameters(shape)) {
      TensorRef t;
      t.dtype = dtype_of<T>();
      for (auto n : info.shape) t.shape[t.rank++] = n;
      for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
      memory.emplace_back(static_cast<std::size_t>(t.elements()), T(0));
      t.data = memory.back().data();
      views.push_back(t);
    }
  }
};

template <class T>
struct BasicFourierCase {
  FourierShape shape;
  int samples;
  SpectralTransform transform;
  Arrays<T> weights, gradients;

  BasicFourierCase(const FourierShape& s, int n)
      : shape(s), samples(n), transform(s.grid), weights(shape), gradients(shape) {
    for (std::size_t p = 0; p < weights.memory.size(); ++p) {
      const auto made = numbers(weights.memory[p].size(), p);
      for (std::size_t k = 0; k < made.size(); ++k) weights.memory[p][k] = static_cast<T>(0.4 * made[k]);
    }
  }
  FourierLayers<T> layers() { return {shape, transform, weights.views}; }
  std::size_t inputs() const { return static_cast<std::size_t>(samples) * shape.inputs * shape.grid.nodes(); }
  std::size_t outputs() const { return static_cast<std::size_t>(samples) * shape.outputs * shape.grid.nodes(); }
};
using FourierCase = BasicFourierCase<double>;

}  // namespace cambium::superres::testing
