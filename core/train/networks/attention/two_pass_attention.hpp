#pragma once
#include <vector>

#include "core/train/networks/attention/attention.hpp"

namespace cambium::train {

/// The numbers of SoftmaxAttention, to rounding, without its matrix: for a block of queries the blocks of keys follow
/// each other, and what was added before is scaled to the largest score so far (Milakov and Gimelshein 2018). Kept are
/// the output and log sum_j e^(s_ij) of each row i; derivatives compute the weights again from them (Dao et al. 2022).
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
  /// A block of queries and one of keys.
  struct Pair {
    int query, queries, key, keys;
  };
  /// Keys of the block that the query `row` rows into the block sees.
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
