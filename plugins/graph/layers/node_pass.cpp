#include "plugins/graph/layers/node_pass.hpp"

#include <cmath>

#include "plugins/graph/layers/dropout.hpp"
#include "plugins/graph/layers/rows.hpp"

namespace cambium::graph {

template <class T>
NodePass<T>::NodePass(const NetworkShape& shape)
    : shape_(shape), values_(shape.layers.size()), slopes_(shape.layers.size()), by_(shape.layers.size()) {
  for (const auto& layer : shape.layers) {
    layers_.push_back(make_layer<T>(layer));
    first_parameter_.push_back(first_parameter_.back() + parameters_of(layer, true).size());
  }
}

/// Converts y to the input of the next layer.
template <class T>
void NodePass<T>::activate(std::size_t l, Rows<T> y, const Draws& draws) {
  const auto slope = rows_in(slopes_[l], y.rows, y.width);
  const Dropout dropout(shape_.dropout, draws, static_cast<int>(l) + 1);
  std::fill_n(slope.data, y.rows * y.width, T(1));
  if (dropout.drops())
    for (std::int64_t i = 0; i < y.rows; ++i) dropout.fill(spreads_[l + 1]->node(i), y.width, slope.row(i));
  const bool rectifies = shape_.activation == NetworkShape::Activation::relu;
  for (std::int64_t k = 0; k < y.rows * y.width; ++k) {
    const T x = y.data[k], factor = slope.data[k];
    if (rectifies) {
      y.data[k] = x > T(0) ? x * factor : T(0);
      slope.data[k] = x > T(0) ? factor : T(0);
    } else {
      const T below = x > T(0) ? T(0) : std::exp(x);
      y.data[k] = factor * (x > T(0) ? x : below - T(1));
      slope.data[k] = factor * (x > T(0) ? T(1) : below);
    }
  }
}

template <class T>
Rows<const T> NodePass<T>::forward(const Input<T>& features, std::span<Spread<T>* const> spreads,
                                   std::span<const TensorRef> weights, const Draws& draws) {
  weights_.clear();
  for (const auto& w : weights) weights_.push_back(static_cast<const T*>(w.data));
  spreads_.assign(spreads.begin(), spreads.end());
  Input<T> x = features;
  for (std::size_t l = 0;; ++l) {
    const auto y = rows_in(values_[l], spreads_[l]->outputs(), shape_.layers[l].width());
    layers_[l]->forward(x, weights_of(l), *spreads_[l], draws, y);
    if (l + 1 == layers_.size()) return y;
    activate(l, y, draws);
    x = {nullptr, y};
  }
}

template <class T>
void NodePass<T>::backward(Rows<const T> by_outputs) {
  Rows<const T> by_y = by_outputs;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Rows<T> by_x;
    if (l > 0) by_x = rows_in(by_[l], spreads_[l]->inputs(), shape_.layers[l].in);
    layers_[l]->backward(weights_of(l), by_y, by_x);
    if (l == 0) return;
    for (std::size_t k = 0; k < by_[l].size(); ++k) by_[l][k] *= slopes_[l - 1][k];
    by_y = by_x;
  }
}

template <class T>
void NodePass<T>::gradient(std::int64_t first, std::int64_t last, std::span<const TensorRef> gradients) {
  std::vector<T*> by_weights;
  for (const auto& g : gradients) by_weights.push_back(static_cast<T*>(g.data));
  for (std::size_t l = layers_.size(); l-- > 0;) {
    RowRange rows{first, last, first, last};
    if (first < 0) rows = {0, spreads_[l]->inputs(), 0, spreads_[l]->outputs()};
    layers_[l]->gradient(
        rows,
        std::span<T* const>(by_weights).subspan(first_parameter_[l], first_parameter_[l + 1] - first_parameter_[l]));
  }
}

template <class T>
std::int64_t NodePass<T>::bytes() const {
  std::int64_t out = 0;
  for (const auto& layer : layers_) out += layer->bytes();
  for (const auto* of : {&values_, &slopes_, &by_})
    for (const auto& numbers : *of) out += bytes_in(numbers);
  return out;
}

template <class T>
void drop_out(const Csr<T>& from, Csr<T>& to, const Spread<T>& spread, double rate, const Draws& draws) {
  const Dropout dropout(rate, draws, 0);
  std::vector<T> factors;
  for (std::int64_t i = 0; i < from.rows; ++i) {
    const auto values = from.values_of(i);
    const auto first = static_cast<std::size_t>(from.start[i]);
    factors.assign(values.size(), T(1));
    if (dropout.drops()) dropout.fill(spread.node(i), std::ssize(factors), factors.data());
    for (std::size_t e = 0; e < values.size(); ++e) to.value[first + e] = values[e] * factors[e];
  }
}

template <class T>
void drop_out(Rows<const T> from, Rows<T> to, const Spread<T>& spread, double rate, const Draws& draws) {
  const Dropout dropout(rate, draws, 0);
  std::vector<T> factors(from.width, T(1));
  for (std::int64_t i = 0; i < from.rows; ++i) {
    if (dropout.drops()) dropout.fill(spread.node(i), from.width, factors.data());
    for (std::int64_t k = 0; k < from.width; ++k) to.row(i)[k] = from.row(i)[k] * factors[k];
  }
}

#define CAMBIUM_PASS(T)                                                                   \
  template class NodePass<T>;                                                             \
  template void drop_out(const Csr<T>&, Csr<T>&, const Spread<T>&, double, const Draws&); \
  template void drop_out(Rows<const T>, Rows<T>, const Spread<T>&, double, const Draws&);
CAMBIUM_PASS(float)
CAMBIUM_PASS(double)
#undef CAMBIUM_PASS

}  // namespace cambium::graph
