#pragma once
#include <vector>

#include "core/train/networks/attention/attention.hpp"

namespace cambium::train {

/// softmax(Q K^T / sqrt(n)) V with all positions^2 weights at once, stored for the backward pass.
template <class T>
class SoftmaxAttention : public Attention<T> {
 public:
  explicit SoftmaxAttention(const HeadShape& shape) : shape_(shape) {}
  std::int64_t kept() const override { return static_cast<std::int64_t>(shape_.positions) * shape_.positions; }
  std::int64_t scratch() const override { return std::ssize(by_weights_); }
  void forward(const HeadRows<const T>& in, T* out, int out_stride, T* kept) override;
  void backward(const HeadRows<const T>& in, const T* kept, const T* by_out, int out_stride,
                const HeadRows<T>& by_in) override;

 private:
  HeadShape shape_;
  std::vector<T> by_weights_;
};

extern template class SoftmaxAttention<double>;
extern template class SoftmaxAttention<float>;

}  // namespace cambium::train
