#pragma once
#include <vector>

#include "plugins/deepmd/model/dense_layer.hpp"

namespace cambium::deepmd {

/// A network with one scalar input, evaluated for a batch of inputs together with its derivative: the chain rule for
/// the derivative uses the same matrix products as the values.
template <class T>
class EmbeddingNet {
 public:
  /// Rows of the inner layers, shared by all networks: values in the first half, derivatives in the second.
  struct Workspace {
    Matrix<T> rows[2];
    Matrix<T> between;  ///< rows between the factors of a layer
  };

  EmbeddingNet() = default;
  explicit EmbeddingNet(const Network& net);

  /// out(first + k, :) = net(x(first_x + k)) and out(first + count + k, :) = its derivative, for k < count.
  void evaluate(int count, const View<T*>& x, int first_x, Workspace& work, const Matrix<T>& out, int first) const;
  int width() const { return layers_.empty() ? 0 : layers_.back().out; }
  /// Floating-point operations of the matrix products for one input, value and derivative.
  double flops() const;

 private:
  std::vector<DenseLayer<T>> layers_;
};

}  // namespace cambium::deepmd
