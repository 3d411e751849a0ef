#pragma once
#include "core/parallel/random.hpp"
#include "core/train/kinds/buffer.hpp"

namespace cambium::train::testing {

/// Parameters of odd sizes, of which every second has no decay.
inline std::vector<ParameterInfo> some_parameters(int tensors) {
  std::vector<ParameterInfo> out;
  for (int k = 0; k < tensors; ++k) out.push_back({"p" + std::to_string(k), {1 + k % 7, 5 + 3 * (k % 11)}, k % 2 == 0});
  return out;
}

/// Normal numbers addressed by (id, tensor, element): independent of layout and padding.
inline void fill(FlatBuffer& buffer, std::uint64_t id, double size = 1.0) {
  with_real(buffer.dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < buffer.layout().tensors().size(); ++k) {
      const auto values = buffer.values<T>(k);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<T>(size * Random4(id, Stream::test, k, i).normal(0));
    }
  });
}

template <class T>
std::vector<T> numbers(const FlatBuffer& buffer) {
  return packed<T>(buffer);
}

}  // namespace cambium::train::testing
