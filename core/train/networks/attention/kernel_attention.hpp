#pragma once
#include <memory>
#include <vector>

#include "core/train/networks/attention/attention.hpp"
#include "core/train/networks/attention/feature_map.hpp"

namespace cambium::train {

/// out_i = sum_j a_ij v_j / sum_j a_ij with a_ij = phi(q_i) . phi(k_j), over the keys that query i attends to. Keys
/// enter only through the sums S = sum_j phi(k_j) [v_j, 1], features x (n + 1) values, so time and memory are linear in
/// the length; the causal form processes rows in blocks, inside which weights are explicit. Features of causal keys
/// refer to the largest exponent up to their position, and a_ij gets e^(reference_j - reference_i) <= 1: no output
/// depends on later positions, not even in rounding. Sums of weights below 1e-12 (double) or 1e-6 (float) are clamped
/// to it: they are beyond the precision of features with a maximum near one.
template <class T>
class KernelAttention : public Attention<T> {
 public:
  KernelAttention(const HeadShape& shape, std::unique_ptr<FeatureMap<T>> map);
  /// Stores the output and the sum of weights of each row.
  std::int64_t kept() const override { return static_cast<std::int64_t>(shape_.positions) * (shape_.width + 1); }
  std::int64_t scratch() const override;
  void forward(const HeadRows<const T>& in, T* out, int out_stride, T* kept) override;
  void backward(const HeadRows<const T>& in, const T* kept, const T* by_out, int out_stride,
                const HeadRows<T>& by_in) override;

 private:
  void map_rows(const HeadRows<const T>& in);
  void derivatives_of_sums(const T* kept, const T* by_out, int out_stride);
  void sums_of_all(T* sums);
  void derivatives_of_all();
  void causal_sums(T* sums);
  void causal_by_query();
  void causal_by_key();

  /// Weights between the rows of a block, zero for later keys; from `left` . `right` over n values.
  void weights(const T* left, const T* right, int n, int first, int rows, T* out) const;
  /// Adds the block's keys to the state, which refers to the last key before the block.
  void add_keys(int first, int rows);
  /// Sets scaled_ = rows of x (n values each) times e^(sign (reference of the row - `of`)).
  const T* scaled(const T* x, int n, int first, int rows, T of, T sign);

  const T* query(int row) const { return phi_query_.data() + static_cast<std::size_t>(row) * features(); }
  const T* key(int row) const { return phi_key_.data() + static_cast<std::size_t>(row) * features(); }
  std::size_t features() const { return static_cast<std::size_t>(map_->features()); }
  std::size_t columns() const { return static_cast<std::size_t>(shape_.width) + 1; }

  HeadShape shape_;
  std::unique_ptr<FeatureMap<T>> map_;
  std::vector<T> phi_query_, phi_key_, reference_, unused_, values_, state_, block_, by_block_, scaled_;
  std::vector<T> by_sums_, by_query_, by_key_, by_values_;
};

extern template class KernelAttention<double>;
extern template class KernelAttention<float>;

}  // namespace cambium::train
