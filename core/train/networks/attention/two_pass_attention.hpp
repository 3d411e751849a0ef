#pragma once
#include <vector>

#include "core/train/networks/attention/attention.hpp"

namespace cambium::train {

/// SoftmaxAttention up to rounding, without its matrix: for each block of queries, blocks of keys are processed in
/// turn, and previous sums are rescaled to the largest score so far (Milakov and Gimelshein 2018). Only the output and
/// log sum_j e^(s_ij) of each row i are stored; the backward pass recomputes the weights from them (Dao et al. 2022).
template <class T>
class TwoPassAttention : public Attention<T> {
 public:
  explicit TwoPassAttention(const HeadShape& shape);
  std::int64_t kept() const override { return static_cast<std::int64_t>(shape_.positions) * (shape_.width + 1); }
  std::int64_t scratch() const override { return std::ssize(scores_) + std::ssize(by_scores_) + std::ssize(rows_); }
  void forward(const HeadRows<const T>& in, T* out, int out_stride, T* kept) override;
  void backward(const HeadRows<const T>& in, const T* kept, const T* by_out, int out_stride,
                const HeadRows<T>& by_in) override;

 private:
  /// A block of queries and a block of keys.
  struct Pair {
    int query, queries, key, keys;
  };
  /// Number of keys of the block visible to the query at offset `row` in its block.
  int seen(const Pair& b, int row) const;
  void scores(const HeadRows<const T>& in, const Pair& b);
  void weigh(const Pair& b, T* sums, T* most, T* total);
  void slopes(const Pair& b, const T* kept);
  void add_block(const HeadRows<const T>& in, const Pair& b, T* sums, T* most, T* total);
  void add_derivatives(const HeadRows<const T>& in, const Pair& b, const T* kept, const T* by_out, int out_stride,
                       const HeadRows<T>& by_in);

  HeadShape shape_;
  T scale_;
  std::vector<T> scores_, by_scores_, rows_;
};

extern template class TwoPassAttention<double>;
extern template class TwoPassAttention<float>;

}  // namespace cambium::train
