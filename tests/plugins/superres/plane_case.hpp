#pragma once
// Float arrays of a network's parameters, filled with numbers that a Python oracle makes, too.
#include <vector>

#include "core/train/kinds/network.hpp"
#include "tests/plugins/superres/fourier_case.hpp"

namespace cambium::superres::testing {

template <class T>
struct ParameterArrays {
  std::vector<std::vector<T>> memory;
  std::vector<TensorRef> views;
  explicit ParameterArrays(const std::vector<train::ParameterInfo>& parameters) {
    for (const auto& info : parameters) {
      TensorRef t;
      t.dtype = dtype_of<T>();
      for (auto n : info.shape) t.shape[t.rank++] = n;
      for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
      memory.emplace_back(static_cast<std::size_t>(t.elements()), T(0));
      t.data = memory.back().data();
      views.push_back(t);
    }
  }
  void fill(double size) {
    for (std::size_t p = 0; p < memory.size(); ++p) {
      const auto made = numbers(memory[p].size(), p);
      for (std::size_t k = 0; k < made.size(); ++k) memory[p][k] = static_cast<T>(size * made[k]);
    }
  }
};

}  // namespace cambium::superres::testing
