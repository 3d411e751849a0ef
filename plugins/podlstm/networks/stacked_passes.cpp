// Forward and backward passes of a stacked network, node by node.
#include <algorithm>

#include "core/numerics/dense_layer.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"

namespace cambium::podlstm {

namespace {

const float* weight(std::span<const TensorRef> weights, int k) { return static_cast<const float*>(weights[k].data); }
float* slope(std::span<const TensorRef> gradients, int k) { return static_cast<float*>(gradients[k].data); }

CellWeights cell_weights(std::span<const TensorRef> w, int k) {
  return {weight(w, k), weight(w, k + 1), weight(w, k + 2)};
}
CellGradients cell_gradients(std::span<const TensorRef> g, int k) {
  return {slope(g, k), slope(g, k + 1), slope(g, k + 2)};
}

void add_to(std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
}

}  // namespace

const float* StackedLstm::forward(std::int64_t batch, std::span<const TensorRef> weights,
                                  const train::ReadyCallback& ready) {
  const std::size_t n = graph_.nodes.size();
  values_.resize(n + 2);
  (params_.cell == Cell::lstm ? lstm_.resize(n + 1) : gru_.resize(n + 1));
  for (std::size_t k = 0; k <= n; ++k) {
    const int module = module_[k];
    if (module >= 0) ready.forward(module);
    if (k < n)
      forward_node(k, batch, weights);
    else
      forward_head(batch, weights);
    if (module >= 0) ready.release(module);
  }
  return output_.data();
}

void StackedLstm::forward_node(std::size_t k, std::int64_t batch, std::span<const TensorRef> weights) {
  const auto& node = graph_.nodes[k];
  int p = first_parameter_[k];
  auto& out = values_[k + 1];
  const auto& in = values_[node.input];
  if (node.kind == GraphNode::Kind::recurrent) {
    const auto s = shape(batch, graph_.width_of(node.input), node.width);
    out.resize(s.rows() * s.width);
    if (params_.cell == Cell::lstm)
      lstm_forward(s, cell_weights(weights, p), in.data(), out.data(), lstm_[k]);
    else
      gru_forward(s, cell_weights(weights, p), in.data(), out.data(), gru_[k]);
    return;
  }
  out = in;
  const std::int64_t rows = past_ * batch, width = node.width;
  for (const auto& skip : node.skips) {
    const auto& from = values_[skip.value];
    if (!skip.projected) {
      add_to(out, from);
      continue;
    }
    const std::int64_t in_width = graph_.width_of(skip.value);
    DenseLayer<float>{in_width, width, weight(weights, p)}.add_product(rows, from.data(), out.data());
    const float* bias = weight(weights, p + 1);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t j = 0; j < width; ++j) out[r * width + j] += bias[j];
    p += 2;
  }
  for (float& x : out) x = std::max(x, 0.0f);
}

void StackedLstm::forward_head(std::int64_t batch, std::span<const TensorRef> weights) {
  const int p = first_parameter_.back();
  const auto& in = values_[graph_.output];
  const std::int64_t width = graph_.width_of(graph_.output), out = output_size();
  output_.assign(batch * out, 0.0f);
  if (params_.head == Head::dense) {
    DenseLayer<float>{width, out, weight(weights, p), weight(weights, p + 1)}.begin(batch, output_.data());
    for (std::int64_t t = 0; t < past_; ++t)
      DenseLayer<float>{width, out, weight(weights, p) + t * width * out}.add_product(
          batch, in.data() + t * batch * width, output_.data());
    return;
  }
  const auto s = shape(batch, width, modes_);
  auto& h = values_.back();
  h.resize(s.rows() * modes_);
  if (params_.cell == Cell::lstm)
    lstm_forward(s, cell_weights(weights, p), in.data(), h.data(), lstm_.back());
  else
    gru_forward(s, cell_weights(weights, p), in.data(), h.data(), gru_.back());
  for (std::int64_t t = 0; t < past_; ++t)
    for (std::int64_t b = 0; b < batch; ++b)
      std::copy_n(h.data() + (t * batch + b) * modes_, modes_, output_.data() + b * out + t * modes_);
}

void StackedLstm::backward_head(std::int64_t batch, std::span<const TensorRef> weights,
                                std::span<const TensorRef> gradients) {
  const int p = first_parameter_.back();
  const auto source = static_cast<std::size_t>(graph_.output);
  const auto& in = values_[source];
  const std::int64_t width = graph_.width_of(graph_.output), out = output_size();
  float* down = slopes_[source].data();
  if (params_.head == Head::dense) {
    for (std::int64_t t = 0; t < past_; ++t) {
      const std::int64_t at = t * batch * width;
      DenseGradient<float>{width, out, slope(gradients, p) + t * width * out}.add_weights(batch, in.data() + at,
                                                                                          slope_.data());
      if (source > 0)
        DenseLayer<float>{width, out, weight(weights, p) + t * width * out}.input_gradient(batch, slope_.data(),
                                                                                           down + at, true);
    }
    return DenseGradient<float>{width, out, nullptr, slope(gradients, p + 1)}.add_bias(batch, slope_.data());
  }
  const auto s = shape(batch, width, modes_);
  auto& dh = slopes_.back();
  dh.resize(s.rows() * modes_);
  for (std::int64_t t = 0; t < past_; ++t)
    for (std::int64_t b = 0; b < batch; ++b)
      std::copy_n(slope_.data() + b * out + t * modes_, modes_, dh.data() + (t * batch + b) * modes_);
  float* dx = source > 0 ? down : nullptr;
  if (params_.cell == Cell::lstm)
    lstm_backward(s, cell_weights(weights, p), in.data(), values_.back().data(), lstm_.back(), dh.data(), dx,
                  cell_gradients(gradients, p));
  else
    gru_backward(s, cell_weights(weights, p), in.data(), values_.back().data(), gru_.back(), dh.data(), dx,
                 cell_gradients(gradients, p));
}

void StackedLstm::backward_node(std::size_t k, std::int64_t batch, std::span<const TensorRef> weights,
                                std::span<const TensorRef> gradients) {
  const auto& node = graph_.nodes[k];
  int p = first_parameter_[k];
  auto& d = slopes_[k + 1];
  const auto source = static_cast<std::size_t>(node.input);
  if (node.kind == GraphNode::Kind::recurrent) {
    const auto s = shape(batch, graph_.width_of(node.input), node.width);
    float* dx = source > 0 ? slopes_[source].data() : nullptr;
    const auto *x = values_[source].data(), *h = values_[k + 1].data();
    if (params_.cell == Cell::lstm)
      lstm_backward(s, cell_weights(weights, p), x, h, lstm_[k], d.data(), dx, cell_gradients(gradients, p));
    else
      gru_backward(s, cell_weights(weights, p), x, h, gru_[k], d.data(), dx, cell_gradients(gradients, p));
    return;
  }
  for (std::size_t i = 0; i < d.size(); ++i)
    if (!(values_[k + 1][i] > 0.0f)) d[i] = 0.0f;
  if (source > 0) add_to(slopes_[source], d);
  const std::int64_t rows = past_ * batch, width = node.width;
  for (const auto& skip : node.skips) {
    const auto from = static_cast<std::size_t>(skip.value);
    if (!skip.projected) {
      if (from > 0) add_to(slopes_[from], d);
      continue;
    }
    const std::int64_t in_width = graph_.width_of(skip.value);
    const DenseGradient<float> gradient{in_width, width, slope(gradients, p), slope(gradients, p + 1)};
    gradient.add_weights(rows, values_[from].data(), d.data());
    gradient.add_bias(rows, d.data());
    if (from > 0)
      DenseLayer<float>{in_width, width, weight(weights, p)}.input_gradient(rows, d.data(), slopes_[from].data(), true);
    p += 2;
  }
}

void StackedLstm::backward(std::int64_t batch, std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
                           const train::ReadyCallback& ready) {
  const std::size_t n = graph_.nodes.size();
  slopes_.resize(n + 2);
  for (std::size_t k = 1; k <= n; ++k) slopes_[k].assign(values_[k].size(), 0.0f);
  for (std::size_t k = n + 1; k-- > 0;) {
    const int module = module_[k];
    if (module >= 0) ready.backward(module);
    if (k == n)
      backward_head(batch, weights, gradients);
    else
      backward_node(k, batch, weights, gradients);
    const int first = first_parameter_[k],
              last = k == n ? static_cast<int>(parameters_.size()) : first_parameter_[k + 1];
    for (int parameter = last; ready && parameter-- > first;) ready(parameter);
    if (module >= 0) ready.release(module);
  }
}

}  // namespace cambium::podlstm
