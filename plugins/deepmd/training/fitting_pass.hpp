#pragma once
#include "plugins/deepmd/training/layer_weights.hpp"

namespace cambium::deepmd {

/// Energy networks of the atoms of one type, one row per atom: value, gradient with respect to the descriptor, tangent
/// along a change of the descriptor, and the weights' gradient of both. Hidden layers are tanh, the last one is linear.
template <class T>
class FittingPass {
 public:
  FittingPass() = default;
  /// `widths` of the hidden layers; `inputs` is the length of a descriptor.
  FittingPass(int inputs, std::span<const int> widths);
  void reserve(std::int64_t rows);

  T* input(int row) { return x_[0].row(row); }          ///< descriptor, filled by the caller
  T* input_dot(int row) { return x_dot_[0].row(row); }  ///< its change, filled by the caller before tangent()
  const T* input_gradient(int row) const { return x_gradient_[0].row(row); }  ///< dE/d(input)
  const T* input_bar(int row) const { return x_bar_[0].row(row); }            ///< see backward()

  /// Energies of the first `n` rows, without the bias of the type.
  void forward(const NetworkWeights<T>& net, int n, double* energy);
  void gradient(const NetworkWeights<T>& net, int n);
  /// Tangents of the energies when the inputs change by input_dot.
  void tangent(const NetworkWeights<T>& net, int n, double* energy_dot);
  /// Adds the weights' gradient of S = sum over rows (energy_bar E + E_dot) and stores dS/d(input) in input_bar.
  void backward(const NetworkWeights<T>& net, int n, const double* energy_bar);

 private:
  void backward_layer(std::size_t l, const LayerWeights<T>& layer, int n);

  std::vector<Rows<T>> x_, x_dot_, x_gradient_, x_bar_;  ///< inputs of every layer, the last one linear
  std::vector<Rows<T>> y_, z_dot_;                       ///< tanh of every hidden layer; change of its argument
  std::vector<Rows<T>> y_gradient_, z_gradient_;         ///< dE/d(idt y) (1 - y^2), and that times idt
  std::vector<Rows<T>> z_bar_;
};

extern template class FittingPass<double>;
extern template class FittingPass<float>;

}  // namespace cambium::deepmd
