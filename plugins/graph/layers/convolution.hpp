#pragma once
#include "plugins/graph/layers/layer.hpp"

namespace cambium::graph {

/// y = A x W + b (Kipf and Welling 2017). The order of products minimises the width of aggregated rows: A (x W) if W
/// narrows, (A x) W otherwise; backward, A^T g then serves both W and x, or A^T is needed for x only.
template <class T>
class Convolution : public Layer<T> {
 public:
  explicit Convolution(const LayerShape& shape) : shape_(shape) {}
  void forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws&,
               Rows<T> y) override;
  void backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) override;
  void gradient(const RowRange& rows, std::span<T* const> gradients) override;
  std::int64_t bytes() const override { return bytes_in(between_, slope_); }

 private:
  bool narrows() const { return shape_.out < shape_.in; }

  LayerShape shape_;
  Input<T> x_;
  Spread<T>* spread_ = nullptr;
  Rows<const T> by_y_;
  std::vector<T> between_, slope_;  ///< x W or A x; gradient by x W
};

/// y = x W_self + (M x) W_neighbours + b (GraphSAGE with means, Hamilton, Ying and Leskovec 2017), M the mean over
/// neighbours, with the order of products as in Convolution.
template <class T>
class Sage : public Layer<T> {
 public:
  explicit Sage(const LayerShape& shape) : shape_(shape) {}
  void forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws&,
               Rows<T> y) override;
  void backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) override;
  void gradient(const RowRange& rows, std::span<T* const> gradients) override;
  std::int64_t bytes() const override { return bytes_in(between_, slope_, own_); }

 private:
  bool narrows() const { return shape_.out < shape_.in; }

  LayerShape shape_;
  Input<T> x_;
  Spread<T>* spread_ = nullptr;
  Rows<const T> by_y_;
  std::vector<T> between_, slope_, own_;
};

}  // namespace cambium::graph
