#pragma once
#include <vector>

#include "plugins/superres/networks/axial/axial_shape.hpp"

namespace cambium::superres {

/// Axial attention: softmax(q k / sqrt(n) + bias[head][distance]) v among the patches of one row or column (Ho et al.
/// 2019, arXiv:1912.12180; relative bias: Liu et al. 2021, arXiv:2103.14030). Patches are rows (samples, x, z) of
/// queries, keys and values.
template <class T>
class AxialAttention {
 public:
  AxialAttention(const AxialShape& shape, int axis, int samples) : shape_(shape), axis_(axis), samples_(samples) {}
  /// Adds to `out` (patches, width); stores the attention weights.
  void forward(const std::vector<T>& qkv, const T* bias, std::vector<T>& out);
  /// Adds to the gradients with respect to qkv and the bias.
  void backward(const std::vector<T>& qkv, const std::vector<T>& by_out, std::vector<T>& by_qkv, T* by_bias) const;

 private:
  /// First patch of every line along the axis; step() is the stride between patches of a line.
  std::vector<std::size_t> lines() const;
  std::size_t step() const { return axis_ == 0 ? static_cast<std::size_t>(shape_.tokens(1)) : 1; }

  const AxialShape& shape_;
  int axis_, samples_;
  std::vector<T> weights_;  ///< (lines, heads, queries, keys)
};

extern template class AxialAttention<double>;
extern template class AxialAttention<float>;

}  // namespace cambium::superres
