#include <algorithm>

#include "core/numerics/dense_layer.hpp"
#include "plugins/podlstm/networks/packs.hpp"
#include "plugins/podlstm/networks/recurrent.hpp"

namespace cambium::podlstm {

namespace {

/// Computes the gates of one time step in place, and the new states.
void step_forward(std::int64_t batch, std::int64_t n, float* gates, const float* c_before, float* c, float* tc,
                  float* h) {
  for (std::int64_t b = 0; b < batch; ++b) {
    float *gate = gates + 4 * n * b, *cb = c + n * b, *tb = tc + n * b, *hb = h + n * b;
    const float* before = c_before ? c_before + n * b : nullptr;
    for_each_pack(n, [&](std::int64_t j, auto lanes) {
      const auto i = sigmoid(lanes.load(gate + j)), f = sigmoid(lanes.load(gate + n + j));
      const auto g = tanh(lanes.load(gate + 2 * n + j)), o = sigmoid(lanes.load(gate + 3 * n + j));
      const auto cell = before ? fma(f, lanes.load(before + j), i * g) : i * g;
      const auto t = tanh(cell);
      lanes.store(i, gate + j);
      lanes.store(f, gate + n + j);
      lanes.store(g, gate + 2 * n + j);
      lanes.store(o, gate + 3 * n + j);
      lanes.store(cell, cb + j);
      lanes.store(t, tb + j);
      lanes.store(o * t, hb + j);
    });
  }
}

/// Replaces the gates by the gradients before their activations; dc is passed on to the previous step.
void step_backward(std::int64_t batch, std::int64_t n, float* gates, const float* c_before, const float* tc,
                   const float* dh, float* dc) {
  using P = FloatPack;
  const P one = 1.0f;
  for (std::int64_t b = 0; b < batch; ++b) {
    float *gate = gates + 4 * n * b, *d = dc + n * b;
    const float *t = tc + n * b, *g_h = dh + n * b, *before = c_before ? c_before + n * b : nullptr;
    for_each_pack(n, [&](std::int64_t j, auto lanes) {
      const P i = lanes.load(gate + j), f = lanes.load(gate + n + j), g = lanes.load(gate + 2 * n + j),
              o = lanes.load(gate + 3 * n + j);
      const P th = lanes.load(t + j), up = lanes.load(g_h + j);
      const P cell = fma(up * o, one - th * th, lanes.load(d + j));
      const P c0 = before ? lanes.load(before + j) : P(0.0f);
      lanes.store(cell * g * i * (one - i), gate + j);
      lanes.store(cell * c0 * f * (one - f), gate + n + j);
      lanes.store(cell * i * (one - g * g), gate + 2 * n + j);
      lanes.store(up * th * o * (one - o), gate + 3 * n + j);
      lanes.store(cell * f, d + j);
    });
  }
}

}  // namespace

void lstm_forward(const SequenceShape& s, const CellWeights& w, const float* x, float* h, LstmTrace& trace) {
  const std::int64_t n = s.width, rows = s.rows(), block = s.batch * n;
  trace.gates.resize(4 * n * rows);
  trace.cell.resize(n * rows);
  trace.tanh_cell.resize(n * rows);
  w.wx.forward(rows, x, w.b, trace.gates.data());
  for (std::int64_t t = 0; t < s.times; ++t) {
    float* gates = trace.gates.data() + 4 * block * t;
    if (t > 0) w.wh.add_product(s.batch, h + block * (t - 1), gates);
    step_forward(s.batch, n, gates, t > 0 ? trace.cell.data() + block * (t - 1) : nullptr,
                 trace.cell.data() + block * t, trace.tanh_cell.data() + block * t, h + block * t);
  }
}

void lstm_backward(const SequenceShape& s, const CellWeights& w, const float* x, const float* h, LstmTrace& trace,
                   float* dh, float* dx, const CellGradients& out) {
  const std::int64_t n = s.width, rows = s.rows(), block = s.batch * n;
  std::vector<float> dc(block, 0.0f);
  for (std::int64_t t = s.times; t-- > 0;) {
    float* gates = trace.gates.data() + 4 * block * t;
    step_backward(s.batch, n, gates, t > 0 ? trace.cell.data() + block * (t - 1) : nullptr,
                  trace.tanh_cell.data() + block * t, dh + block * t, dc.data());
    if (t > 0) w.wh.add_input_gradient(s.batch, gates, dh + block * (t - 1));
  }
  const float* d = trace.gates.data();
  out.wx.add(w.wx, rows, x, d);
  if (s.times > 1) out.wh.add(w.wh, rows - s.batch, h, d + 4 * block);
  DenseGradient<float>{s.in, 4 * n, nullptr, out.b}.add_bias(rows, d);
  if (dx) w.wx.add_input_gradient(rows, d, dx);
}

}  // namespace cambium::podlstm
