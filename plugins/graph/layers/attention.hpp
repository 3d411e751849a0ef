#pragma once
#include "plugins/graph/layers/dropout.hpp"
#include "plugins/graph/layers/layer.hpp"

namespace cambium::graph {

/// Graph attention (Velickovic et al. 2018): z = x W for each head; node i attends to node j (including itself) with
/// weight a_ij = softmax over j of leaky(hearing . z_i + heard . z_j); y_i = sum_j a_ij z_j + b, heads concatenated or
/// averaged. The backward pass sums over columns of the pattern, from gathered rows, so that sums do not depend on the
/// number of ranks.
template <class T>
class Attention : public Layer<T> {
 public:
  explicit Attention(const LayerShape& shape) : shape_(shape) {}
  void forward(const Input<T>& x, std::span<const T* const> weights, Spread<T>& spread, const Draws& draws,
               Rows<T> y) override;
  void backward(std::span<const T* const> weights, Rows<const T> by_y, Rows<T> by_x) override;
  void gradient(const RowRange& rows, std::span<T* const> gradients) override;
  std::int64_t bytes() const override {
    return bytes_in(z_, all_, outputs_, hearing_, peak_, total_, mean_, weight_, by_hearing_, by_heard_, by_z_);
  }

 private:
  std::int64_t heads() const { return shape_.heads; }
  std::int64_t z_width() const { return shape_.heads * shape_.out; }
  /// Gradient by the output of head h, from a row of gradients by y.
  const T* of_head(const T* by_y, std::int64_t h) const { return by_y + (shape_.joined ? h * shape_.out : 0); }
  T share() const { return shape_.joined ? T(1) : T(1) / static_cast<T>(shape_.heads); }
  T leaky(T x) const { return x > T(0) ? x : static_cast<T>(shape_.slope) * x; }

  void project(std::span<const T* const> weights);
  void attend(std::int64_t i, Rows<T> y);
  void slope_of_row(std::int64_t i, Rows<const T> by_y);
  void slope_of_column(std::int64_t j, Rows<const T> outputs, std::span<const T* const> weights);

  LayerShape shape_;
  Input<T> x_;
  Spread<T>* spread_ = nullptr;
  Dropout dropout_{0.0, {}, 0};
  Rows<const T> by_y_;
  std::vector<T> z_;        ///< inputs x (z of all heads, heard . z of each head)
  std::vector<T> all_;      ///< the same of all ranks
  std::vector<T> outputs_;  ///< outputs x (gradient by y; per head: hearing . z, largest score, sum of exponentials,
                            ///< mean gradient)
  std::vector<T> hearing_, peak_, total_, mean_;  ///< outputs x heads
  std::vector<T> weight_;                         ///< entries x heads: a_ij before dropout
  std::vector<T> by_hearing_, by_heard_, by_z_;   ///< gradients by the two scores and by z
};

}  // namespace cambium::graph
