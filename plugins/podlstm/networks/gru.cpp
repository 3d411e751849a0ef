#include <algorithm>

#include "core/numerics/dense_layer.hpp"
#include "plugins/podlstm/networks/packs.hpp"
#include "plugins/podlstm/networks/recurrent.hpp"

namespace cambium::podlstm {

// Arrays of h wh have reset, update and candidate in the same order as the gates. The bias has 4 parts: three added
// with x, followed by the candidate's own bh.

void gru_forward(const SequenceShape& s, const CellWeights& w, const float* x, float* h, GruTrace& trace) {
  const std::int64_t n = s.width, rows = s.rows(), block = s.batch * n;
  trace.gates.resize(3 * n * rows);
  trace.inner.resize(n * rows);
  w.wx.forward(rows, x, w.b, trace.gates.data());
  std::vector<float> product(3 * block, 0.0f);
  for (std::int64_t t = 0; t < s.times; ++t) {
    if (t > 0) w.wh.forward(s.batch, h + block * (t - 1), nullptr, product.data());
    for (std::int64_t b = 0; b < s.batch; ++b) {
      float *gate = trace.gates.data() + 3 * (block * t + n * b), *inner = trace.inner.data() + block * t + n * b;
      const float *p = product.data() + 3 * n * b, *bh = w.b + 3 * n;
      const float* before = t > 0 ? h + block * (t - 1) + n * b : nullptr;
      float* now = h + block * t + n * b;
      for_each_pack(n, [&](std::int64_t j, auto lanes) {
        const auto r = sigmoid(lanes.load(gate + j) + lanes.load(p + j)),
                   z = sigmoid(lanes.load(gate + n + j) + lanes.load(p + n + j));
        const auto u = lanes.load(p + 2 * n + j) + lanes.load(bh + j);
        const auto c = tanh(fma(r, u, lanes.load(gate + 2 * n + j)));
        const FloatPack h0 = before ? lanes.load(before + j) : FloatPack(0.0f);
        lanes.store(r, gate + j);
        lanes.store(z, gate + n + j);
        lanes.store(c, gate + 2 * n + j);
        lanes.store(u, inner + j);
        lanes.store(fma(z, h0 - c, c), now + j);
      });
    }
  }
}

void gru_backward(const SequenceShape& s, const CellWeights& w, const float* x, const float* h, GruTrace& trace,
                  float* dh, float* dx, const CellGradients& out) {
  const std::int64_t n = s.width, rows = s.rows(), block = s.batch * n;
  std::vector<float> through(3 * n * rows);  // gradient of h wh
  const FloatPack one = 1.0f;
  for (std::int64_t t = s.times; t-- > 0;) {
    for (std::int64_t b = 0; b < s.batch; ++b) {
      float *gate = trace.gates.data() + 3 * (block * t + n * b), *p = through.data() + 3 * (block * t + n * b);
      const float *inner = trace.inner.data() + block * t + n * b, *up = dh + block * t + n * b;
      const float* before = t > 0 ? h + block * (t - 1) + n * b : nullptr;
      float* down = t > 0 ? dh + block * (t - 1) + n * b : nullptr;
      for_each_pack(n, [&](std::int64_t j, auto lanes) {
        const auto r = lanes.load(gate + j), z = lanes.load(gate + n + j), c = lanes.load(gate + 2 * n + j),
                   d = lanes.load(up + j);
        const FloatPack h0 = before ? lanes.load(before + j) : FloatPack(0.0f);
        const auto dc = d * (one - z) * (one - c * c), dz = d * (h0 - c) * z * (one - z);
        const auto dr = dc * lanes.load(inner + j) * r * (one - r);
        lanes.store(dr, gate + j);
        lanes.store(dz, gate + n + j);
        lanes.store(dc, gate + 2 * n + j);
        lanes.store(dr, p + j);
        lanes.store(dz, p + n + j);
        lanes.store(dc * r, p + 2 * n + j);
        if (down) lanes.store(fma(d, z, lanes.load(down + j)), down + j);
      });
    }
    if (t > 0) w.wh.add_input_gradient(s.batch, through.data() + 3 * block * t, dh + block * (t - 1));
  }
  const float* d = trace.gates.data();
  out.wx.add(w.wx, rows, x, d);
  if (s.times > 1) out.wh.add(w.wh, rows - s.batch, h, through.data() + 3 * block);
  DenseGradient<float>{s.in, 3 * n, nullptr, out.b}.add_bias(rows, d);
  for_each_pack(n, [&](std::int64_t j, auto lanes) {
    FloatPack sum = lanes.load(out.b + 3 * n + j);
    for (std::int64_t r = 0; r < rows; ++r) sum += lanes.load(through.data() + 3 * n * r + 2 * n + j);
    lanes.store(sum, out.b + 3 * n + j);
  });
  if (dx) w.wx.add_input_gradient(rows, d, dx);
}

}  // namespace cambium::podlstm
