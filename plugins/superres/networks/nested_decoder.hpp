#pragma once
// The continuous decoder written with Torch's own operations and differentiated by nested reverse passes: the oracle of
// jets in the tests, and the baseline cost of a training step in the bench.
#include <torch/torch.h>

#include "plugins/superres/decoder/decoder.hpp"

namespace cambium::superres::nested {

inline torch::Tensor activated(Activation sigma, const torch::Tensor& z) {
  switch (sigma) {
    case Activation::softplus:
      return torch::softplus(z, 1.0, 1e9);
    case Activation::tanh:
      return torch::tanh(z);
    default:
      return z * torch::sigmoid(z);
  }
}

/// S(s) of Blend.
inline torch::Tensor smooth(Blend blend, const torch::Tensor& s) {
  if (blend == Blend::trilinear) return s;
  if (blend == Blend::c2) return s.pow(3) * (10 - 15 * s + 6 * s * s);
  return s.pow(4) * (35 - 84 * s + 70 * s * s - 20 * s.pow(3));
}

/// Output of the decoder for `input` (rows, columns).
inline torch::Tensor answer(const DecoderShape& shape, const torch::Tensor& input,
                            const std::vector<torch::Tensor>& weights) {
  torch::Tensor h;
  for (int l = 0; l < shape.layers(); ++l) {
    const auto seen = l == 0 ? input : l + 1 < shape.layers() ? torch::cat({h, input}, 1) : h;
    h = torch::nn::functional::linear(seen, weights[2 * l], weights[2 * l + 1]);
    if (l + 1 < shape.layers()) h = activated(shape.activation, h);
  }
  return h;
}

/// Fields (points, outputs) at `points` (points, 3), from latents (nodes, latent) on `cells`.
inline torch::Tensor decoded(const DecoderShape& shape, const LatentCells& cells, Blend blend,
                             const torch::Tensor& points, const torch::Tensor& latents,
                             const std::vector<torch::Tensor>& weights) {
  const auto plain = points.detach().to(torch::kFloat64).contiguous();
  const std::int64_t n = points.size(0);
  torch::Tensor out;
  std::vector<std::vector<std::int64_t>> low(3, std::vector<std::int64_t>(n));
  for (std::int64_t p = 0; p < n; ++p)
    for (int a = 0; a < 3; ++a) {
      const auto& x = cells.axis[a];
      while (low[a][p] + 2 < std::ssize(x) && plain.data_ptr<double>()[3 * p + a] >= x[low[a][p] + 1]) ++low[a][p];
    }
  for (int corner = 0; corner < 8; ++corner) {
    torch::Tensor weight, relative[3];
    std::vector<std::int64_t> node(n, 0);
    for (int a = 0; a < 3; ++a) {
      const int side = (corner >> (2 - a)) & 1;
      std::vector<double> at(n), spacing(n), left(n), width(n);
      for (std::int64_t p = 0; p < n; ++p) {
        const int k = static_cast<int>(low[a][p]) + side;
        at[p] = cells.axis[a][k];
        spacing[p] = cells.spacing(a, k);
        left[p] = cells.axis[a][low[a][p]];
        width[p] = cells.axis[a][low[a][p] + 1] - left[p];
        node[p] = node[p] * cells.nodes(a) + k % cells.nodes(a);
      }
      auto tensor = [&](const std::vector<double>& v) { return torch::tensor(v, torch::kFloat64).to(points.dtype()); };
      const auto x = points.select(1, a), s = smooth(blend, (x - tensor(left)) / tensor(width)), w = side ? s : 1 - s;
      weight = weight.defined() ? weight * w : w;
      relative[a] = (x - tensor(at)) / tensor(spacing);
    }
    const auto input = torch::cat(
        {torch::stack({relative[0], relative[1], relative[2]}, 1), latents.index_select(0, torch::tensor(node))}, 1);
    const auto part = weight.unsqueeze(1) * answer(shape, input, weights);
    out = out.defined() ? out + part : part;
  }
  return out;
}

/// Weight of spline `number` of an axis at x (points): its pieces are cubics, so that the Taylor expansion around each
/// point is exact.
inline torch::Tensor spline_weight(const SplineAxis& axis, int number, const torch::Tensor& x) {
  const auto at = x.detach().to(torch::kFloat64).contiguous();
  std::vector<double> c[4];
  for (std::int64_t p = 0; p < x.size(0); ++p) {
    const auto here = axis.at(at.data_ptr<double>()[p]);
    for (int k = 0; k < 4; ++k) {
      c[k].push_back(0.0);
      for (int j = 0; j < SplineAxis::most; ++j)
        if (here.spline[j] == number) c[k].back() += here.weight[j][k];
    }
  }
  const auto away = x - at;
  return torch::tensor(c[0], torch::kFloat64) +
         away * (torch::tensor(c[1], torch::kFloat64) +
                 away * (torch::tensor(c[2], torch::kFloat64) / 2 + away * torch::tensor(c[3], torch::kFloat64) / 6));
}

/// The same for latent vectors (nodes, shape.vector()) blended by splines: a dense sum over every spline of the grid,
/// most of them zero.
inline torch::Tensor decoded_once(const DecoderShape& shape, const LatentCells& cells, const torch::Tensor& points,
                                  const torch::Tensor& latents, const std::vector<torch::Tensor>& weights) {
  const auto axes = splines_of(cells);
  torch::Tensor blended;
  for (std::int64_t n = 0; n < cells.size(); ++n) {
    const std::int64_t number[3] = {n / cells.nodes(2) / cells.nodes(1), n / cells.nodes(2) % cells.nodes(1),
                                    n % cells.nodes(2)};
    torch::Tensor weight;
    for (int a = 0; a < 3; ++a) {
      const auto w = spline_weight(axes[a], static_cast<int>(number[a]), points.select(1, a));
      weight = weight.defined() ? weight * w : w;
    }
    const auto part = weight.unsqueeze(1) * latents[n];
    blended = blended.defined() ? blended + part : part;
  }
  const double low = cells.axis[2].front(), half = 0.5 * (cells.axis[2].back() - low);
  const auto none = torch::zeros({points.size(0), 2}, points.options().requires_grad(false));
  const auto input = torch::cat({none, (points.slice(1, 2, 3) - low) / half - 1.0, blended}, 1);
  const auto h = answer(shape, input, weights);
  return shape.carries ? h + blended.slice(1, 0, shape.outputs) : h;
}

/// d y / d axis, summed over points, which are independent of each other.
inline torch::Tensor derivative(const torch::Tensor& y, const torch::Tensor& points, int axis) {
  return torch::autograd::grad({y.sum()}, {points}, {}, true, true, true)[0].select(1, axis);
}

/// (streams, points, outputs): every derivative of every output by nested differentiation, reusing lower ones.
inline torch::Tensor nested_jets(const JetBasis& basis, const torch::Tensor& y, const torch::Tensor& points) {
  std::vector<torch::Tensor> streams(basis.size());
  for (int s = 0; s < basis.size(); ++s) {
    std::vector<torch::Tensor> outputs;
    for (std::int64_t f = 0; f < y.size(1); ++f) {
      if (s == 0) {
        outputs.push_back(y.select(1, f));
        continue;
      }
      MultiIndex lower = basis[s];
      const int axis = lower[0] > 0 ? 0 : lower[1] > 0 ? 1 : 2;
      --lower[axis];
      outputs.push_back(derivative(streams[basis.find(lower)].select(1, f), points, axis));
    }
    streams[s] = torch::stack(outputs, 1);
  }
  return torch::stack(streams);
}

}  // namespace cambium::superres::nested
