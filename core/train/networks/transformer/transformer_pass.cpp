#include "core/train/networks/transformer/transformer_pass.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/gemm.hpp"
#include "core/train/networks/quantized/coded_weights.hpp"
#include "core/train/networks/transformer/transformer_ops.hpp"

namespace cambium::train {

static constexpr int vocabulary = 256;
/// Parameters of a block, from its first.
enum { norm1, qkv_w, out_w, norm2, up_w, down_w };

static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
template <class T>
static T* data_of(std::span<const TensorRef> tensors, int k) {
  return static_cast<T*>(tensors[static_cast<std::size_t>(k)].data);
}

template <class T>
TransformerPass<T>::TransformerPass(const TransformerShape& shape, const Transformer::Params& params,
                                    std::span<const TensorRef> weights, std::span<const double> features,
                                    const CodedWeights* coded)
    : shape_(shape), params_(params), weights_(weights), features_(features), coded_(coded),
      blocks_(size(shape.layers)) {}

template <class T>
const T* TransformerPass<T>::weights_of(int k, bool inside) {
  const bool ternary = inside && params_.linear.weights == Transformer::LinearWeights::ternary;
  if (!ternary && params_.precision != Precision::bfloat16) return raw(k);
  rounded_.assign(raw(k), raw(k) + weights_[size(k)].elements());
  if (ternary)
    round_to_ternary<T>(rounded_);
  else
    round_to_bfloat16<T>(rounded_);
  return rounded_.data();
}

template <class T>
void TransformerPass<T>::enter(std::vector<T>& x, int width, bool inside) const {
  if (inside && params_.linear.activations == Transformer::Activations::int8)
    round_rows_to_int8<T>(x, width);
  else if (params_.precision == Precision::bfloat16)
    round_to_bfloat16<T>(x);
}

template <class T>
void TransformerPass<T>::multiply(const std::vector<T>& x, int k, int n_in, int n_out, std::vector<T>& y, bool add,
                                  bool inside) {
  y.resize(size(static_cast<std::int64_t>(rows_) * n_out));
  if (coded_) {
    if (!add) std::fill(y.begin(), y.end(), T(0));
    if (coded_->add_product(k, x.data(), rows_, y.data())) return;
  }
  host_gemm<T>(false, false, rows_, n_out, n_in, T(1), x.data(), n_in, weights_of(k, inside), n_out, add ? T(1) : T(0),
               y.data(), n_out);
}

template <class T>
std::vector<T> TransformerPass<T>::multiply_backward(const std::vector<T>& x, int k, int n_in, int n_out,
                                                     std::vector<T> by_y, T* by_weight, bool inside) {
  if (params_.precision == Precision::bfloat16) round_to_bfloat16<T>(by_y);
  host_gemm<T>(true, false, n_in, n_out, rows_, T(1), x.data(), n_in, by_y.data(), n_out, T(1), by_weight, n_out);
  std::vector<T> by_x(size(static_cast<std::int64_t>(rows_) * n_in));
  host_gemm<T>(false, true, rows_, n_in, n_out, T(1), by_y.data(), n_out, weights_of(k, inside), n_out, T(0),
               by_x.data(), n_in);
  return by_x;
}

template <class T>
std::vector<double> TransformerPass<T>::forward(std::span<const std::uint8_t> bytes, int samples,
                                                const ReadyCallback& ready) {
  const int positions = shape_.positions, width = shape_.width;
  samples_ = samples, rows_ = samples * positions;
  inputs_.clear(), targets_.clear();
  for (int s = 0; s < samples; ++s) {
    const auto text = bytes.subspan(size(s) * size(positions + 1), size(positions + 1));
    inputs_.insert(inputs_.end(), text.begin(), text.end() - 1);
    targets_.insert(targets_.end(), text.begin() + 1, text.end());
  }
  ready.forward(0);
  x_.resize(size(static_cast<std::int64_t>(rows_) * width));
  for (int row = 0; row < rows_; ++row) {
    const T *byte = raw(0) + size(inputs_[size(row)]) * size(width),
            *position = raw(1) + size(row % positions) * size(width);
    for (int k = 0; k < width; ++k) x_[size(row) * size(width) + size(k)] = byte[k] + position[k];
  }
  ready.release(0);
  for (int l = 0; l < shape_.layers; ++l) {
    ready.forward(1 + l);
    block_forward(l);
    ready.release(1 + l);
  }
  const int head = shape_.first_of_head();
  ready.forward(1 + shape_.layers);
  last_entered_.resize(x_.size()), last_inverse_.resize(size(rows_));
  rms_norm(x_.data(), raw(head), rows_, width, last_entered_.data(), last_inverse_.data());
  enter(last_entered_, width, false);
  multiply(last_entered_, head + 1, width, vocabulary, probabilities_, false, false);
  ready.release(1 + shape_.layers);
  std::vector<double> out;
  for (int row = 0; row < rows_; ++row) {
    T* p = probabilities_.data() + size(row) * vocabulary;
    const T most = *std::max_element(p, p + vocabulary), target = p[targets_[size(row)]];
    T sum = T(0);
    for (int k = 0; k < vocabulary; ++k) sum += p[k] = std::exp(p[k] - most);
    for (int k = 0; k < vocabulary; ++k) p[k] /= sum;
    out.push_back(std::log(static_cast<double>(sum)) - static_cast<double>(target - most));
  }
  return out;
}

template <class T>
void TransformerPass<T>::block_forward(int l) {
  const int width = shape_.width, first = shape_.first_of_block(l);
  Block& b = blocks_[size(l)];
  b.x = x_;
  b.entered1.resize(x_.size()), b.inverse1.resize(size(rows_));
  rms_norm(b.x.data(), raw(first + norm1), rows_, width, b.entered1.data(), b.inverse1.data());
  enter(b.entered1, width, true);
  multiply(b.entered1, first + qkv_w, width, 3 * width, b.qkv, false, true);
  attend(l);
  enter(b.mixed, width, true);
  multiply(b.mixed, first + out_w, width, width, x_, true, true);
  b.between = x_;
  b.entered2.resize(x_.size()), b.inverse2.resize(size(rows_));
  rms_norm(b.between.data(), raw(first + norm2), rows_, width, b.entered2.data(), b.inverse2.data());
  enter(b.entered2, width, true);
  multiply(b.entered2, first + up_w, width, shape_.hidden, b.up, false, true);
  b.hidden.resize(b.up.size());
  gelu(b.up.data(), std::ssize(b.up), b.hidden.data());
  enter(b.hidden, shape_.hidden, true);
  multiply(b.hidden, first + down_w, shape_.hidden, width, x_, true, true);
}

template <class T>
std::unique_ptr<Attention<T>> TransformerPass<T>::attention_of(int l) const {
  const std::size_t each = features_.size() / size(shape_.layers);
  return make_attention<T>(params_.attention.type, {shape_.positions, shape_.width / shape_.heads, true},
                           features_.subspan(size(l) * each, each));
}

/// Attention for every sample and head; rows of qkv are query, key and value of all heads.
template <class T>
void TransformerPass<T>::attend(int l) {
  Block& b = blocks_[size(l)];
  const int p = shape_.positions, width = shape_.width, n = width / shape_.heads;
  const auto attention = attention_of(l);
  const std::size_t kept = size(attention->kept());
  b.attention.resize(size(samples_) * size(shape_.heads) * kept);
  b.mixed.resize(size(rows_) * size(width));
  for (int s = 0; s < samples_; ++s)
    for (int h = 0; h < shape_.heads; ++h) {
      const std::size_t row = size(s) * size(p);
      const T* q = b.qkv.data() + row * size(3 * width) + size(h * n);
      attention->forward({q, q + width, q + 2 * width, 3 * width}, b.mixed.data() + row * size(width) + size(h * n),
                         width, b.attention.data() + size(s * shape_.heads + h) * kept);
    }
}

template <class T>
void TransformerPass<T>::attend_backward(int l, const std::vector<T>& by_mixed, std::vector<T>& by_qkv) {
  const Block& b = blocks_[size(l)];
  const int p = shape_.positions, width = shape_.width, n = width / shape_.heads;
  const auto attention = attention_of(l);
  const std::size_t kept = size(attention->kept());
  by_qkv.assign(b.qkv.size(), T(0));
  for (int s = 0; s < samples_; ++s)
    for (int h = 0; h < shape_.heads; ++h) {
      const std::size_t row = size(s) * size(p), at = row * size(3 * width) + size(h * n);
      const T* q = b.qkv.data() + at;
      T* by_q = by_qkv.data() + at;
      attention->backward(
          {q, q + width, q + 2 * width, 3 * width}, b.attention.data() + size(s * shape_.heads + h) * kept,
          by_mixed.data() + row * size(width) + size(h * n), width, {by_q, by_q + width, by_q + 2 * width, 3 * width});
    }
}

template <class T>
std::vector<std::uint8_t> TransformerPass<T>::likeliest() const {
  std::vector<std::uint8_t> out;
  for (int row = 0; row < rows_; ++row) {
    const T* p = probabilities_.data() + size(row) * vocabulary;
    out.push_back(static_cast<std::uint8_t>(std::max_element(p, p + vocabulary) - p));
  }
  return out;
}

template <class T>
void TransformerPass<T>::head_backward(double weight, std::span<const double> places,
                                       std::span<const TensorRef> gradients, const ReadyCallback& ready) {
  const int width = shape_.width, head = shape_.first_of_head();
  for (int row = 0; row < rows_; ++row) {
    const T factor = static_cast<T>(places.empty() ? weight / shape_.positions : weight * places[size(row)]);
    T* p = probabilities_.data() + size(row) * vocabulary;
    p[targets_[size(row)]] -= T(1);
    for (int k = 0; k < vocabulary; ++k) p[k] *= factor;
  }
  ready.backward(1 + shape_.layers);
  const auto by_entered = multiply_backward(last_entered_, head + 1, width, vocabulary, std::move(probabilities_),
                                            data_of<T>(gradients, head + 1), false);
  by_x_.assign(x_.size(), T(0));
  rms_norm_backward(x_.data(), raw(head), last_inverse_.data(), by_entered.data(), rows_, width, by_x_.data(),
                    data_of<T>(gradients, head));
  ready(head + 1), ready(head);
  ready.release(1 + shape_.layers);
}

template <class T>
void TransformerPass<T>::block_backward(int l, std::span<const TensorRef> gradients, const ReadyCallback& ready) {
  const int width = shape_.width, first = shape_.first_of_block(l);
  const auto gradient = [&](int k) { return data_of<T>(gradients, first + k); };
  Block& b = blocks_[size(l)];
  auto by_hidden = multiply_backward(b.hidden, first + down_w, shape_.hidden, width, by_x_, gradient(down_w), true);
  ready(first + down_w);
  gelu_backward(b.up.data(), std::ssize(b.up), by_hidden.data());
  const auto by_entered2 =
      multiply_backward(b.entered2, first + up_w, width, shape_.hidden, std::move(by_hidden), gradient(up_w), true);
  ready(first + up_w);
  rms_norm_backward(b.between.data(), raw(first + norm2), b.inverse2.data(), by_entered2.data(), rows_, width,
                    by_x_.data(), gradient(norm2));
  ready(first + norm2);
  const auto by_mixed = multiply_backward(b.mixed, first + out_w, width, width, by_x_, gradient(out_w), true);
  ready(first + out_w);
  std::vector<T> by_qkv;
  attend_backward(l, by_mixed, by_qkv);
  const auto by_entered1 =
      multiply_backward(b.entered1, first + qkv_w, width, 3 * width, std::move(by_qkv), gradient(qkv_w), true);
  ready(first + qkv_w);
  rms_norm_backward(b.x.data(), raw(first + norm1), b.inverse1.data(), by_entered1.data(), rows_, width, by_x_.data(),
                    gradient(norm1));
  ready(first + norm1);
}

template <class T>
void TransformerPass<T>::embedding_backward(std::span<const TensorRef> gradients, const ReadyCallback& ready) {
  const int width = shape_.width;
  T *by_byte = data_of<T>(gradients, 0), *by_position = data_of<T>(gradients, 1);
  for (int row = 0; row < rows_; ++row) {
    const T* d = by_x_.data() + size(row) * size(width);
    T *byte = by_byte + size(inputs_[size(row)]) * size(width),
      *position = by_position + size(row % shape_.positions) * size(width);
    for (int k = 0; k < width; ++k) byte[k] += d[k], position[k] += d[k];
  }
  ready(1), ready(0);
}

template <class T>
void TransformerPass<T>::backward(double weight, std::span<const double> places, std::span<const TensorRef> gradients,
                                  const ReadyCallback& ready) {
  head_backward(weight, places, gradients, ready);
  for (int l = shape_.layers; l-- > 0;) {
    ready.backward(1 + l);
    block_backward(l, gradients, ready);
    ready.release(1 + l);
  }
  ready.backward(0);
  embedding_backward(gradients, ready);
  ready.release(0);
}

template class TransformerPass<double>;
template class TransformerPass<float>;

}  // namespace cambium::train
