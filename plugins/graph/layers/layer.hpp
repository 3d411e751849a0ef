#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/network.hpp"
#include "plugins/graph/graphs/bytes.hpp"
#include "plugins/graph/layers/spread.hpp"

namespace cambium::graph {

/// Inputs of a layer: rows of features, sparse or dense.
template <class T>
struct Input {
  const Csr<T>* sparse = nullptr;
  Rows<const T> dense;
  std::int64_t rows() const { return sparse ? sparse->rows : dense.rows; }
};

/// Rows [first, last) of inputs and of outputs.
struct RowRange {
  std::int64_t inputs_first = 0, inputs_last = 0, outputs_first = 0, outputs_last = 0;
};

/// Counters of the random numbers of a step; none are drawn in inference.
struct Draws {
  bool training = false;
  std::uint64_t seed = 1;
  std::int64_t step = 0;
};

/// One layer of a network on nodes, without its activation. It stores what its backward pass needs; arguments passed by
/// reference are kept by reference and must live until the next forward(). forward() and backward() are collective if
/// the Spread is.
template <class T>
class Layer {
 public:
  virtual ~Layer() = default;
  /// y (outputs x width) from x (inputs).
  virtual void forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws& draws,
                       Rows<T> y) = 0;
  /// Takes the gradient by y; returns the gradient by x, unless by_x has no memory.
  virtual void backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) = 0;
  /// After backward(): adds the gradient contributions of these rows. No communication.
  virtual void gradient(const RowRange& rows, std::span<T* const> gradients) = 0;
  /// Memory of its stored data.
  virtual std::int64_t bytes() const = 0;
};

/// A layer as configured in the deck.
struct LayerShape {
  enum class Kind { convolution, sage, attention } kind = Kind::convolution;
  std::int64_t in = 0, out = 0;  ///< features of a node; for attention, out of each head
  int number = 0;                ///< from 0
  bool bias = true;
  int heads = 1;                                                     ///< of attention
  bool joined = true;                                                ///< heads are concatenated; else averaged
  double slope = 0.2;                                                ///< of attention's leaky ReLU
  double dropout = 0.0;                                              ///< of attention weights
  bool residual = false;                                             ///< adds x R to the output
  bool normalised = false;                                           ///< layer normalisation of the output
  std::int64_t width() const { return joined ? out * heads : out; }  ///< output features
};

/// Parameters of a layer, named "layers.<number>.<name>".
std::vector<train::ParameterInfo> parameters_of(const LayerShape& shape, bool decay);

template <class T>
std::unique_ptr<Layer<T>> make_layer(const LayerShape& shape);

}  // namespace cambium::graph
