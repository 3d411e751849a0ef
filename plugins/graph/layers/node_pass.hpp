#pragma once
#include "plugins/graph/layers/layer.hpp"

namespace cambium::graph {

/// The layers of a network on nodes and what is between them.
struct NetworkShape {
  enum class Activation { relu, elu };
  std::vector<LayerShape> layers;
  Activation activation = Activation::relu;
  double dropout = 0.0;  ///< of what every layer reads
};

/// One pass through a network on nodes, forward and backward. Arguments live until the next forward().
template <class T>
class NodePass {
 public:
  explicit NodePass(const NetworkShape& shape);

  /// Outputs of the last layer; `features` are dropped out already. One spread for each layer.
  Rows<const T> forward(const Input<T>& features, std::span<Spread<T>* const> spreads,
                        std::span<const TensorRef> weights, const Draws& draws);
  /// Takes the slope by these outputs.
  void backward(Rows<const T> by_outputs);
  /// Adds what rows [first, last) of every layer contribute to the gradient; of all rows where first < 0.
  void gradient(std::int64_t first, std::int64_t last, std::span<const TensorRef> gradients);
  /// Memory of what it and its layers keep.
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
  std::vector<std::vector<T>> values_;  ///< of each layer's outputs; but for the last, activated and dropped out
  std::vector<std::vector<T>> slopes_;  ///< of that activation and dropping out
  std::vector<std::vector<T>> by_;      ///< slope by what each layer reads
};

/// Dropped-out features: `to` has the structure of `from`, and may be it.
template <class T>
void drop_out(const Csr<T>& from, Csr<T>& to, const Spread<T>& spread, double rate, const Draws& draws);
template <class T>
void drop_out(Rows<const T> from, Rows<T> to, const Spread<T>& spread, double rate, const Draws& draws);

}  // namespace cambium::graph
