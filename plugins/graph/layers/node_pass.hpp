#pragma once
#include "plugins/graph/layers/layer.hpp"

namespace cambium::graph {

/// Layers of a network on nodes, their activation and dropout.
struct NetworkShape {
  enum class Activation { relu, elu };
  std::vector<LayerShape> layers;
  Activation activation = Activation::relu;
  double dropout = 0.0;  ///< of the input of every layer
};

/// Forward and backward pass of a network on nodes. Arguments must live until the next forward().
template <class T>
class NodePass {
 public:
  explicit NodePass(const NetworkShape& shape);

  /// Outputs of the last layer; dropout must already be applied to `features`. One spread for each layer.
  Rows<const T> forward(const Input<T>& features, std::span<Spread<T>* const> spreads,
                        std::span<const TensorRef> weights, const Draws& draws);
  /// Takes the gradient by these outputs.
  void backward(Rows<const T> by_outputs);
  /// Adds the gradient contributions of rows [first, last) of every layer; of all rows if first < 0.
  void gradient(std::int64_t first, std::int64_t last, std::span<const TensorRef> gradients);
  /// Memory of stored data, including that of its layers.
  std::int64_t bytes() const;

 private:
  std::span<const T* const> weights_of(std::size_t l) const {
    return std::span(weights_).subspan(first_parameter_[l], first_parameter_[l + 1] - first_parameter_[l]);
  }
  void activate(std::size_t l, Rows<T> y, const Draws& draws);

  NetworkShape shape_;
  std::vector<std::unique_ptr<Layer<T>>> layers_;
  std::vector<std::size_t> first_parameter_{0};
  std::vector<const T*> weights_;
  std::vector<Spread<T>*> spreads_;
  std::vector<std::vector<T>> values_;  ///< outputs of each layer; except for the last, after activation and dropout
  std::vector<std::vector<T>> slopes_;  ///< derivatives of activation and dropout
  std::vector<std::vector<T>> by_;      ///< gradient by the input of each layer
};

/// Applies dropout to features: `to` has the structure of `from`, and may be the same.
template <class T>
void drop_out(const Csr<T>& from, Csr<T>& to, const Spread<T>& spread, double rate, const Draws& draws);
template <class T>
void drop_out(Rows<const T> from, Rows<T> to, const Spread<T>& spread, double rate, const Draws& draws);

}  // namespace cambium::graph
