// Forward and backward passes of a stacked network, node by node.
#include <algorithm>

#include "core/numerics/dense_layer.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"

namespace cambium::podlstm {

namespace {

const float* weight(std::span<const TensorRef> weights, int k) { return static_cast<const float*>(weights[k].data); }
float* slope(std::span<const TensorRef> gradients, int k) { return static_cast<float*>(gradients[k].data); }

void add_to(std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
}

/// Rows (t * batch + b) of `width` values by sample: (batch, times * width).
std::vector<float> by_sample(const float* x, std::int64_t times, std::int64_t batch, std::int64_t width) {
  std::vector<float> out(times * batch * width);
  for (std::int64_t t = 0; t < times; ++t)
    for (std::int64_t b = 0; b < batch; ++b)
      std::copy_n(x + (t * batch + b) * width, width, out.data() + (b * times + t) * width);
  return out;
}

}  // namespace

LayerMatrix StackedLstm::matrix(std::size_t l, std::span<const TensorRef> w) const {
  const auto& layer = layers_[l];
  if (layer.rank == 0) return {layer.inputs, layer.outputs, 0, weight(w, layer.core)};
  return {layer.inputs, layer.outputs, layer.rank, weight(w, layer.enter), weight(w, layer.leave)};
}

LayerMatrixGradient StackedLstm::matrix_gradient(std::size_t l, std::span<const TensorRef> g) const {
  const auto& layer = layers_[l];
  if (layer.rank == 0) return {slope(g, layer.core)};
  return {slope(g, layer.enter), slope(g, layer.leave)};
}

CellWeights StackedLstm::cell(std::size_t l, std::span<const TensorRef> w) const {
  return {matrix(l, w), matrix(l + 1, w), weight(w, layers_[l].bias)};
}

CellGradients StackedLstm::cell_gradient(std::size_t l, std::span<const TensorRef> g) const {
  return {matrix_gradient(l, g), matrix_gradient(l + 1, g), slope(g, layers_[l].bias)};
}

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
  std::size_t l = first_layer_[k];
  auto& out = values_[k + 1];
  const auto& in = values_[node.input];
  if (node.kind == GraphNode::Kind::recurrent) {
    const auto s = shape(batch, graph_.width_of(node.input), node.width);
    out.resize(s.rows() * s.width);
    if (params_.cell == Cell::lstm)
      lstm_forward(s, cell(l, weights), in.data(), out.data(), lstm_[k]);
    else
      gru_forward(s, cell(l, weights), in.data(), out.data(), gru_[k]);
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
    matrix(l, weights).add_product(rows, from.data(), out.data());
    const float* bias = weight(weights, layers_[l].bias);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t j = 0; j < width; ++j) out[r * width + j] += bias[j];
    ++l;
  }
  for (float& x : out) x = std::max(x, 0.0f);
}

/// One product for each time, or, with factors, one for all.
void StackedLstm::forward_dense(std::int64_t batch, std::span<const TensorRef> weights) {
  const auto w = matrix(first_layer_.back(), weights);
  const float *in = values_[graph_.output].data(), *bias = weight(weights, layers_[first_layer_.back()].bias);
  const std::int64_t width = graph_.width_of(graph_.output);
  if (w.rank > 0) return w.forward(batch, by_sample(in, past_, batch, width).data(), bias, output_.data());
  DenseLayer<float>{width, w.out, w.w, bias}.begin(batch, output_.data());
  for (std::int64_t t = 0; t < past_; ++t)
    DenseLayer<float>{width, w.out, w.w + t * width * w.out}.add_product(batch, in + t * batch * width, output_.data());
}

void StackedLstm::backward_dense(std::int64_t batch, std::span<const TensorRef> weights,
                                 std::span<const TensorRef> gradients) {
  const std::size_t l = first_layer_.back();
  const auto source = static_cast<std::size_t>(graph_.output);
  const auto w = matrix(l, weights);
  const auto dw = matrix_gradient(l, gradients);
  const float* in = values_[source].data();
  float* down = slopes_[source].data();
  const std::int64_t width = graph_.width_of(graph_.output), out = w.out;
  DenseGradient<float>{width, out, nullptr, slope(gradients, layers_[l].bias)}.add_bias(batch, slope_.data());
  if (w.rank > 0) {
    const auto x = by_sample(in, past_, batch, width);
    dw.add(w, batch, x.data(), slope_.data());
    if (source == 0) return;
    std::vector<float> dx(x.size(), 0.0f);
    w.add_input_gradient(batch, slope_.data(), dx.data());
    for (std::int64_t t = 0; t < past_; ++t)
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t j = 0; j < width; ++j) down[(t * batch + b) * width + j] += dx[(b * past_ + t) * width + j];
    return;
  }
  for (std::int64_t t = 0; t < past_; ++t) {
    const std::int64_t at = t * batch * width, part = t * width * out;
    DenseGradient<float>{width, out, dw.w + part}.add_weights(batch, in + at, slope_.data());
    if (source > 0) DenseLayer<float>{width, out, w.w + part}.input_gradient(batch, slope_.data(), down + at, true);
  }
}

void StackedLstm::forward_head(std::int64_t batch, std::span<const TensorRef> weights) {
  const std::size_t l = first_layer_.back();
  const auto& in = values_[graph_.output];
  const std::int64_t width = graph_.width_of(graph_.output), out = output_size();
  output_.assign(batch * out, 0.0f);
  if (params_.head == Head::dense) return forward_dense(batch, weights);
  const auto s = shape(batch, width, modes_);
  auto& h = values_.back();
  h.resize(s.rows() * modes_);
  if (params_.cell == Cell::lstm)
    lstm_forward(s, cell(l, weights), in.data(), h.data(), lstm_.back());
  else
    gru_forward(s, cell(l, weights), in.data(), h.data(), gru_.back());
  for (std::int64_t t = 0; t < past_; ++t)
    for (std::int64_t b = 0; b < batch; ++b)
      std::copy_n(h.data() + (t * batch + b) * modes_, modes_, output_.data() + b * out + t * modes_);
}

void StackedLstm::backward_head(std::int64_t batch, std::span<const TensorRef> weights,
                                std::span<const TensorRef> gradients) {
  if (params_.head == Head::dense) return backward_dense(batch, weights, gradients);
  const std::size_t l = first_layer_.back();
  const auto source = static_cast<std::size_t>(graph_.output);
  const auto& in = values_[source];
  const std::int64_t width = graph_.width_of(graph_.output), out = output_size();
  const auto s = shape(batch, width, modes_);
  auto& dh = slopes_.back();
  dh.resize(s.rows() * modes_);
  for (std::int64_t t = 0; t < past_; ++t)
    for (std::int64_t b = 0; b < batch; ++b)
      std::copy_n(slope_.data() + b * out + t * modes_, modes_, dh.data() + (t * batch + b) * modes_);
  float* dx = source > 0 ? slopes_[source].data() : nullptr;
  if (params_.cell == Cell::lstm)
    lstm_backward(s, cell(l, weights), in.data(), values_.back().data(), lstm_.back(), dh.data(), dx,
                  cell_gradient(l, gradients));
  else
    gru_backward(s, cell(l, weights), in.data(), values_.back().data(), gru_.back(), dh.data(), dx,
                 cell_gradient(l, gradients));
}

void StackedLstm::backward_node(std::size_t k, std::int64_t batch, std::span<const TensorRef> weights,
                                std::span<const TensorRef> gradients) {
  const auto& node = graph_.nodes[k];
  std::size_t l = first_layer_[k];
  auto& d = slopes_[k + 1];
  const auto source = static_cast<std::size_t>(node.input);
  if (node.kind == GraphNode::Kind::recurrent) {
    const auto s = shape(batch, graph_.width_of(node.input), node.width);
    float* dx = source > 0 ? slopes_[source].data() : nullptr;
    const auto *x = values_[source].data(), *h = values_[k + 1].data();
    if (params_.cell == Cell::lstm)
      lstm_backward(s, cell(l, weights), x, h, lstm_[k], d.data(), dx, cell_gradient(l, gradients));
    else
      gru_backward(s, cell(l, weights), x, h, gru_[k], d.data(), dx, cell_gradient(l, gradients));
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
    const auto w = matrix(l, weights);
    matrix_gradient(l, gradients).add(w, rows, values_[from].data(), d.data());
    DenseGradient<float>{w.in, width, nullptr, slope(gradients, layers_[l].bias)}.add_bias(rows, d.data());
    if (from > 0) w.add_input_gradient(rows, d.data(), slopes_[from].data());
    ++l;
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
