#pragma once
#include "plugins/graph/layers/layer.hpp"

namespace cambium::graph {

/// y = layer(x) + x R: a skip connection by a linear map. The next layer receives a node's own features in addition to
/// those of its neighbours, for any two widths (He, Zhang, Ren and Sun 2016).
template <class T>
class Residual : public Layer<T> {
 public:
  Residual(const LayerShape& shape, std::unique_ptr<Layer<T>> inner, std::size_t parameters)
      : shape_(shape), inner_(std::move(inner)), parameters_(parameters) {}
  void forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws& draws,
               Rows<T> y) override;
  void backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) override;
  void gradient(const RowRange& rows, std::span<T* const> gradients) override;
  std::int64_t bytes() const override { return inner_->bytes() + bytes_in(own_); }

 private:
  LayerShape shape_;
  std::unique_ptr<Layer<T>> inner_;
  std::size_t parameters_;  ///< of `inner_`, before R
  Input<T> x_;
  Rows<const T> by_y_;
  std::vector<T> own_;
};

/// Layer normalisation of the output of a layer: y = gain (z - m) / sqrt(v + 1e-5) + bias with mean m and variance v of
/// the features z of a node (Ba, Kiros and Hinton 2016, arXiv 1607.06450). It acts on each node separately.
template <class T>
class Normalised : public Layer<T> {
 public:
  Normalised(std::unique_ptr<Layer<T>> inner, std::size_t parameters)
      : inner_(std::move(inner)), parameters_(parameters) {}
  void forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws& draws,
               Rows<T> y) override;
  void backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) override;
  void gradient(const RowRange& rows, std::span<T* const> gradients) override;
  std::int64_t bytes() const override { return inner_->bytes() + bytes_in(scaled_, over_deviation_, by_inner_); }

 private:
  std::unique_ptr<Layer<T>> inner_;
  std::size_t parameters_;  ///< of `inner_`, before gain and bias
  Rows<const T> by_y_;
  std::vector<T> scaled_, over_deviation_;  ///< (z - m) / sqrt(v + 1e-5), and 1 over this root, for each node
  std::vector<T> by_inner_;
};

}  // namespace cambium::graph
