#pragma once
#include "plugins/deepmd/training/layer_weights.hpp"

namespace cambium::deepmd {

/// Embedding networks y = N(x) with scalar input, together with the derivative N'(x): the forces need it, and so does
/// the gradient of a loss of forces. Rows are all pairs of a batch; each network processes a range of them, in blocks
/// that fit into the cache. Hidden layers are tanh.
template <class T>
class EmbeddingPass {
 public:
  static constexpr int block = 1024;  ///< most rows in one call of backward()

  EmbeddingPass() = default;
  explicit EmbeddingPass(std::span<const int> widths);
  void reserve(std::int64_t rows);

  /// Values and slopes of rows [begin, end), whose inputs are x[begin .. end).
  void forward(const NetworkWeights<T>& net, const T* x, int begin, int end);
  const T* value(int row) const { return value_.back().row(row); }
  const T* slope(int row) const { return slope_.back().row(row); }

  /// Adds the weights' gradient of sum over rows (value . value_bar + slope . slope_bar) for at most `block` rows whose
  /// adjoints are stored in value_bar(0..), slope_bar(0..). Requires forward() of these rows.
  void backward(const NetworkWeights<T>& net, const T* x, int begin, int end);
  T* value_bar(int k) { return value_bar_.back().row(k); }
  T* slope_bar(int k) { return slope_bar_.back().row(k); }

 private:
  void first_layer(const LayerWeights<T>& layer, const T* x, int begin, int end);
  void next_layer(std::size_t l, const LayerWeights<T>& layer, int begin, int end);
  void backward_layer(std::size_t l, const LayerWeights<T>& layer, int begin, int end);
  void backward_first(const LayerWeights<T>& layer, const T* x, int begin, int end);

  std::vector<Rows<T>> value_, slope_;          ///< of every layer, by row
  std::vector<Rows<T>> value_bar_, slope_bar_;  ///< of every layer, for one block
  std::vector<Rows<T>> z_bar_, z_slope_bar_;    ///< adjoints before the activation
};

extern template class EmbeddingPass<double>;
extern template class EmbeddingPass<float>;

}  // namespace cambium::deepmd
