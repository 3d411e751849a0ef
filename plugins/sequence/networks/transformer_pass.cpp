#include "plugins/sequence/networks/transformer_pass.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/counts.hpp"
#include "core/base/recorder.hpp"
#include "core/lowp/microscaling.hpp"
#include "core/numerics/dense_layer.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"
#include "plugins/sequence/networks/transformer_ops.hpp"

namespace cambium::sequence {

static constexpr int vocabulary = 256, mask = vocabulary;

int TransformerShape::arrays(int count) const {
  int n = count;
  for (int k = 0; k < count; ++k) n += rank(k) > 0;
  return n;
}

Product TransformerShape::matrix(int l, Matrix m) const {
  const int in = m == down ? hidden : width, to = m == qkv ? 3 * width : m == up ? hidden : width;
  return {2 + 2 * l + 1 + (m >= up) + arrays(4 * l + m), in, to, rank(4 * l + m)};
}

template <class T>
static T* data_of(std::span<const TensorRef> tensors, int k) {
  return static_cast<T*>(tensors[k].data);
}

template <class T>
TransformerPass<T>::TransformerPass(const TransformerShape& shape, const Transformer::Params& params,
                                    std::span<const TensorRef> weights, std::span<const double> features,
                                    const train::CodedWeights* coded)
    : shape_(shape), params_(params), weights_(weights), features_(features), coded_(coded), blocks_(at(shape.layers)) {
}

/// Format common to weights and activations; null for others.
template <class Format>
static const lowp::Microscaled* microscaled(Format format) {
  if (format == Format::mxfp8_e4m3) return &lowp::mxfp8_e4m3;
  if (format == Format::mxfp8_e5m2) return &lowp::mxfp8_e5m2;
  return format == Format::mxfp4 ? &lowp::mxfp4 : nullptr;
}

template <class T>
const T* TransformerPass<T>::weights_of(int k, bool inside) {
  const auto format = inside ? params_.linear.weights : Transformer::LinearWeights::full;
  if (format == Transformer::LinearWeights::full && params_.precision != Precision::bfloat16) return raw(k);
  rounded_.assign(raw(k), raw(k) + weights_[at(k)].elements());
  if (format == Transformer::LinearWeights::ternary)
    round_to_ternary<T>(rounded_);
  else if (const auto* blocks = microscaled(format))
    lowp::round_columns_to_blocks<T>(*blocks, rounded_, weights_[at(k)].shape[1]);
  else
    round_to_bfloat16<T>(rounded_);
  return rounded_.data();
}

template <class T>
void TransformerPass<T>::enter(std::vector<T>& x, int width, bool inside) const {
  if (inside && params_.linear.activations == Transformer::Activations::int8)
    round_rows_to_int8<T>(x, width);
  else if (const auto* blocks = inside ? microscaled(params_.linear.activations) : nullptr)
    lowp::round_rows_to_blocks<T>(*blocks, x, width);
  else if (params_.precision == Precision::bfloat16)
    round_to_bfloat16<T>(x);
}

template <class T>
void TransformerPass<T>::multiply_one(const std::vector<T>& x, int k, int n_in, int n_out, std::vector<T>& y, bool add,
                                      bool inside) {
  y.resize(at(static_cast<std::int64_t>(rows_) * n_out));
  if (coded_) {
    if (!add) std::fill(y.begin(), y.end(), T(0));
    if (coded_->add_product(k, x.data(), rows_, y.data())) return;
  }
  const DenseLayer<T> layer{n_in, n_out, weights_of(k, inside)};
  if (add || coded_)  // calibration has added a shift
    layer.add_product(rows_, x.data(), y.data());
  else
    layer.forward(rows_, x.data(), y.data());
}

template <class T>
void TransformerPass<T>::multiply(const std::vector<T>& x, const Product& w, std::vector<T>& between, std::vector<T>& y,
                                  bool add, bool inside) {
  if (w.rank == 0) return multiply_one(x, w.first, w.n_in, w.n_out, y, add, inside);
  multiply_one(x, w.first, w.n_in, w.rank, between, false, inside);
  enter(between, w.rank, inside);
  multiply_one(between, w.first + 1, w.rank, w.n_out, y, add, inside);
}

template <class T>
std::vector<T> TransformerPass<T>::one_backward(const std::vector<T>& x, int k, int n_in, int n_out,
                                                std::vector<T> by_y, T* by_weight, bool inside) {
  if (params_.precision == Precision::bfloat16) round_to_bfloat16<T>(by_y);
  DenseGradient<T>{n_in, n_out, by_weight}.add_weights(rows_, x.data(), by_y.data());
  std::vector<T> by_x(at(static_cast<std::int64_t>(rows_) * n_in));
  DenseLayer<T>{n_in, n_out, weights_of(k, inside)}.input_gradient(rows_, by_y.data(), by_x.data());
  return by_x;
}

template <class T>
std::vector<T> TransformerPass<T>::multiply_backward(const std::vector<T>& x, const Product& w,
                                                     const std::vector<T>& between, std::vector<T> by_y,
                                                     std::span<const TensorRef> gradients,
                                                     const train::ReadyCallback& ready, bool inside) {
  if (w.rank > 0) {
    by_y = one_backward(between, w.first + 1, w.rank, w.n_out, std::move(by_y), data_of<T>(gradients, w.first + 1),
                        inside);
    ready(w.first + 1);
  }
  auto by_x = one_backward(x, w.first, w.n_in, w.rank > 0 ? w.rank : w.n_out, std::move(by_y),
                           data_of<T>(gradients, w.first), inside);
  ready(w.first);
  return by_x;
}

template <class T>
void TransformerPass<T>::take(std::span<const std::uint8_t> bytes, std::span<const double> masked) {
  const int next = params_.causal ? 1 : 0;
  const std::size_t length = at(shape_.positions + next);
  inputs_.clear();
  targets_.clear();
  for (int s = 0; s < samples_; ++s) {
    const auto text = bytes.subspan(at(s) * length, length);
    inputs_.insert(inputs_.end(), text.begin(), text.end() - next);
    targets_.insert(targets_.end(), text.begin() + next, text.end());
  }
  for (std::size_t row = 0; row < masked.size(); ++row)
    if (masked[row] != 0.0) inputs_[row] = mask;
}

template <class T>
void TransformerPass<T>::embed() {
  const KernelRegion region("embeddings", WorkKind::movement);
  const int positions = shape_.positions, width = shape_.width;
  for (int row = 0; row < rows_; ++row) {
    const T *byte = raw(0) + at(inputs_[at(row)]) * at(width), *position = raw(1) + at(row % positions) * at(width);
    for (int k = 0; k < width; ++k) x_[at(row) * at(width) + at(k)] = byte[k] + position[k];
  }
}

template <class T>
std::vector<double> TransformerPass<T>::forward(std::span<const std::uint8_t> bytes, int samples,
                                                const train::ReadyCallback& ready, std::span<const double> masked) {
  const int width = shape_.width;
  samples_ = samples;
  rows_ = samples * shape_.positions;
  take(bytes, masked);
  ready.forward(0);
  x_.resize(at(static_cast<std::int64_t>(rows_) * width));
  embed();
  ready.release(0);
  for (int l = 0; l < shape_.layers; ++l) {
    ready.forward(1 + l);
    block_forward(l);
    ready.release(1 + l);
  }
  const int head = shape_.first_of_head();
  ready.forward(1 + shape_.layers);
  last_entered_.resize(x_.size());
  last_inverse_.resize(at(rows_));
  rms_norm(x_.data(), raw(head), rows_, width, last_entered_.data(), last_inverse_.data());
  enter(last_entered_, width, false);
  multiply(last_entered_, shape_.head(vocabulary), head_between_, probabilities_, false, false);
  ready.release(1 + shape_.layers);
  return losses();
}

/// Replaces the logits by the probabilities of all bytes.
template <class T>
std::vector<double> TransformerPass<T>::losses() {
  const KernelRegion region("softmax of bytes", WorkKind::transcendental);
  std::vector<double> out;
  for (int row = 0; row < rows_; ++row) {
    T* p = probabilities_.data() + at(row) * vocabulary;
    const T most = *std::max_element(p, p + vocabulary), target = p[targets_[at(row)]];
    T sum = T(0);
    for (int k = 0; k < vocabulary; ++k) sum += p[k] = std::exp(p[k] - most);
    for (int k = 0; k < vocabulary; ++k) p[k] /= sum;
    out.push_back(std::log(static_cast<double>(sum)) - static_cast<double>(target - most));
  }
  return out;
}

template <class T>
void TransformerPass<T>::block_forward(int l) {
  const int width = shape_.width;
  Block& b = blocks_[at(l)];
  const auto times = [&](const std::vector<T>& x, TransformerShape::Matrix m, std::vector<T>& y, bool add) {
    multiply(x, shape_.matrix(l, m), b.inside[m], y, add, true);
  };
  b.x = x_;
  b.entered1.resize(x_.size());
  b.inverse1.resize(at(rows_));
  rms_norm(b.x.data(), raw(shape_.norm1(l)), rows_, width, b.entered1.data(), b.inverse1.data());
  enter(b.entered1, width, true);
  times(b.entered1, TransformerShape::qkv, b.qkv, false);
  attend(l);
  enter(b.mixed, width, true);
  times(b.mixed, TransformerShape::out, x_, true);
  b.between = x_;
  b.entered2.resize(x_.size());
  b.inverse2.resize(at(rows_));
  rms_norm(b.between.data(), raw(shape_.norm2(l)), rows_, width, b.entered2.data(), b.inverse2.data());
  enter(b.entered2, width, true);
  times(b.entered2, TransformerShape::up, b.up, false);
  b.hidden.resize(b.up.size());
  gelu(b.up.data(), std::ssize(b.up), b.hidden.data());
  enter(b.hidden, shape_.hidden, true);
  times(b.hidden, TransformerShape::down, x_, true);
}

template <class T>
std::unique_ptr<train::Attention<T>> TransformerPass<T>::attention_of(int l) const {
  const std::size_t each = features_.size() / at(shape_.layers);
  return make_attention<T>(params_.attention.type, {shape_.positions, shape_.width / shape_.heads, params_.causal},
                           features_.subspan(at(l) * each, each));
}

/// Attention for every sample and head; rows of qkv are query, key and value of all heads.
template <class T>
void TransformerPass<T>::attend(int l) {
  Block& b = blocks_[at(l)];
  const int p = shape_.positions, width = shape_.width, n = width / shape_.heads;
  const auto attention = attention_of(l);
  const std::size_t kept = at(attention->kept());
  b.attention.resize(at(samples_) * at(shape_.heads) * kept);
  b.mixed.resize(at(rows_) * at(width));
  for (int s = 0; s < samples_; ++s)
    for (int h = 0; h < shape_.heads; ++h) {
      const std::size_t row = at(s) * at(p);
      const T* q = b.qkv.data() + row * at(3 * width) + at(h * n);
      attention->forward({q, q + width, q + 2 * width, 3 * width}, b.mixed.data() + row * at(width) + at(h * n), width,
                         b.attention.data() + at(s * shape_.heads + h) * kept);
    }
}

template <class T>
void TransformerPass<T>::attend_backward(int l, const std::vector<T>& by_mixed, std::vector<T>& by_qkv) {
  const Block& b = blocks_[at(l)];
  const int p = shape_.positions, width = shape_.width, n = width / shape_.heads;
  const auto attention = attention_of(l);
  const std::size_t kept = at(attention->kept());
  by_qkv.assign(b.qkv.size(), T(0));
  for (int s = 0; s < samples_; ++s)
    for (int h = 0; h < shape_.heads; ++h) {
      const std::size_t row = at(s) * at(p), begin = row * at(3 * width) + at(h * n);
      const T* q = b.qkv.data() + begin;
      T* by_q = by_qkv.data() + begin;
      attention->backward(
          {q, q + width, q + 2 * width, 3 * width}, b.attention.data() + at(s * shape_.heads + h) * kept,
          by_mixed.data() + row * at(width) + at(h * n), width, {by_q, by_q + width, by_q + 2 * width, 3 * width});
    }
}

template <class T>
std::vector<std::uint8_t> TransformerPass<T>::likeliest() const {
  std::vector<std::uint8_t> out;
  for (int row = 0; row < rows_; ++row) {
    const T* p = probabilities_.data() + at(row) * vocabulary;
    out.push_back(static_cast<std::uint8_t>(std::max_element(p, p + vocabulary) - p));
  }
  return out;
}

template <class T>
void TransformerPass<T>::slopes_of_logits(double weight, std::span<const double> places) {
  const KernelRegion region("slope of the softmax of bytes", WorkKind::elementwise);
  for (int row = 0; row < rows_; ++row) {
    const T factor = static_cast<T>(places.empty() ? weight / shape_.positions : weight * places[at(row)]);
    T* p = probabilities_.data() + at(row) * vocabulary;
    p[targets_[at(row)]] -= T(1);
    for (int k = 0; k < vocabulary; ++k) p[k] *= factor;
  }
}

template <class T>
void TransformerPass<T>::head_backward(double weight, std::span<const double> places,
                                       std::span<const TensorRef> gradients, const train::ReadyCallback& ready) {
  slopes_of_logits(weight, places);
  const int width = shape_.width, head = shape_.first_of_head();
  ready.backward(1 + shape_.layers);
  const auto by_entered = multiply_backward(last_entered_, shape_.head(vocabulary), head_between_,
                                            std::move(probabilities_), gradients, ready, false);
  by_x_.assign(x_.size(), T(0));
  rms_norm_backward(x_.data(), raw(head), last_inverse_.data(), by_entered.data(), rows_, width, by_x_.data(),
                    data_of<T>(gradients, head));
  ready(head);
  ready.release(1 + shape_.layers);
}

template <class T>
void TransformerPass<T>::block_backward(int l, std::span<const TensorRef> gradients,
                                        const train::ReadyCallback& ready) {
  const int width = shape_.width, norm1 = shape_.norm1(l), norm2 = shape_.norm2(l);
  Block& b = blocks_[at(l)];
  const auto back = [&](const std::vector<T>& x, TransformerShape::Matrix m, std::vector<T> by_y) {
    return multiply_backward(x, shape_.matrix(l, m), b.inside[m], std::move(by_y), gradients, ready, true);
  };
  auto by_hidden = back(b.hidden, TransformerShape::down, by_x_);
  gelu_backward(b.up.data(), std::ssize(b.up), by_hidden.data());
  const auto by_entered2 = back(b.entered2, TransformerShape::up, std::move(by_hidden));
  rms_norm_backward(b.between.data(), raw(norm2), b.inverse2.data(), by_entered2.data(), rows_, width, by_x_.data(),
                    data_of<T>(gradients, norm2));
  ready(norm2);
  const auto by_mixed = back(b.mixed, TransformerShape::out, by_x_);
  std::vector<T> by_qkv;
  attend_backward(l, by_mixed, by_qkv);
  const auto by_entered1 = back(b.entered1, TransformerShape::qkv, std::move(by_qkv));
  rms_norm_backward(b.x.data(), raw(norm1), b.inverse1.data(), by_entered1.data(), rows_, width, by_x_.data(),
                    data_of<T>(gradients, norm1));
  ready(norm1);
}

template <class T>
void TransformerPass<T>::embedding_backward(std::span<const TensorRef> gradients, const train::ReadyCallback& ready) {
  const KernelRegion region("slopes of embeddings", WorkKind::movement);
  const int width = shape_.width;
  T *by_byte = data_of<T>(gradients, 0), *by_position = data_of<T>(gradients, 1);
  for (int row = 0; row < rows_; ++row) {
    const T* d = by_x_.data() + at(row) * at(width);
    T *byte = by_byte + at(inputs_[at(row)]) * at(width),
      *position = by_position + at(row % shape_.positions) * at(width);
    for (int k = 0; k < width; ++k) {
      byte[k] += d[k];
      position[k] += d[k];
    }
  }
  ready(1);
  ready(0);
}

template <class T>
void TransformerPass<T>::backward(double weight, std::span<const double> places, std::span<const TensorRef> gradients,
                                  const train::ReadyCallback& ready) {
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

}  // namespace cambium::sequence
