#pragma once
#include <span>
#include <vector>

#include "plugins/deepmd/model/dense_layer.hpp"

namespace cambium::deepmd {

/// Work arrays shared by the fitting networks of all types.
template <class T>
struct FittingWorkspace {
  std::vector<Matrix<T>> value, slope;  ///< by hidden layer: output; derivative with respect to the layer's linear part
  Matrix<T> adjoint[2], scaled;
  Matrix<T> between;  ///< rows between the factors of a layer
  std::size_t bytes() const;
};

/// The energy network of one type: descriptor rows in, energies and their gradient with respect to the rows out.
template <class T>
class FittingNet {
 public:
  /// `coded`: low-bit matrices for products by table look-up, by layer, with no rows for ordinary layers; or none at
  /// all.
  explicit FittingNet(const Network& net, std::span<const lowp::BinaryCodedMatrix> coded = {});

  /// energy(a) = net(x(a, :)), gradient(a, :) = d energy(a) / d x(a, :) for rows a < rows. Rows are in() wide;
  /// `gradient` may alias `x`.
  void evaluate(int rows, const Matrix<T>& x, FittingWorkspace<T>& work, const View<double*>& energy,
                const Matrix<T>& gradient) const;
  int in() const { return in_; }
  /// Floating-point operations of the matrix products of one row, forward and backward.
  double flops() const;
  std::size_t bytes() const;

 private:
  void forward(int rows, const Matrix<T>& x, FittingWorkspace<T>& work) const;
  void backward(int rows, FittingWorkspace<T>& work, const Matrix<T>& gradient) const;

  int in_ = 0;
  std::vector<DenseLayer<T>> hidden_;
  View<T*> last_w_;  ///< of the last linear layer, with one output
  double last_b_ = 0.0;
};

}  // namespace cambium::deepmd
