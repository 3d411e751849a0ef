#include "plugins/graph/messages/mixing.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::graph {

/// Keeps the length of a vector of zeros differentiable, as in training.
constexpr double least_square = 1e-8;

void Mixing::parts(const MessageModel& model, const MessageLayer& layer, int atoms, const double* scalar,
                   const double* vector) {
  const auto w = static_cast<std::size_t>(model.width), n = static_cast<std::size_t>(atoms);
  const std::size_t in = static_cast<std::size_t>(layer.mix_in.in);
  joined_.resize(n * in);
  if (model.vectors) {
    turned_.resize(n * 6 * w);
    length_.resize(n * w);
    layer.vectors.layer().forward(3 * atoms, vector, turned_.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < w; ++k) {
        const double* v = turned_.data() + i * 6 * w + w + k;
        length_[i * w + k] = std::sqrt(v[0] * v[0] + v[2 * w] * v[2 * w] + v[4 * w] * v[4 * w] + least_square);
      }
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(scalar + i * w, w, joined_.data() + i * in);
    if (model.vectors) std::copy_n(length_.data() + i * w, w, joined_.data() + i * in + w);
  }
  hidden_.resize(n * w);
  active_.resize(n * w);
  part_.resize(n * static_cast<std::size_t>(model.said()));
  layer.mix_in.layer().forward(atoms, joined_.data(), hidden_.data());
  activate(Activation::silu, std::ssize(hidden_), hidden_.data(), active_.data());
  layer.mix_out.layer().forward(atoms, active_.data(), part_.data());
}

void Mixing::forward(const MessageModel& model, const MessageLayer& layer, int atoms, double* scalar, double* vector) {
  parts(model, layer, atoms, scalar, vector);
  const auto w = static_cast<std::size_t>(model.width), said = static_cast<std::size_t>(model.said());
  for (std::size_t i = 0; i < static_cast<std::size_t>(atoms); ++i) {
    const double* a = part_.data() + i * said;
    double* s = scalar + i * w;
    if (!model.vectors) {
      for (std::size_t k = 0; k < w; ++k) s[k] += a[k];
      continue;
    }
    const double *b = a + w, *c = b + w, *turned = turned_.data() + i * 6 * w;
    double* v = vector + i * 3 * w;
    for (std::size_t k = 0; k < w; ++k) {
      double product = 0.0;
      for (std::size_t x = 0; x < 3; ++x) product += turned[2 * x * w + k] * turned[(2 * x + 1) * w + k];
      s[k] += a[k] + b[k] * product;
    }
    for (std::size_t x = 0; x < 3; ++x)
      for (std::size_t k = 0; k < w; ++k) v[x * w + k] += c[k] * turned[2 * x * w + k];
  }
}

/// Derivatives by the parts and by U v and V v, except those by V v through its length.
void Mixing::vectors_backward(std::size_t w, int atoms, const double* scalar_gradient, double* vector_gradient) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(atoms); ++i) {
    const double *b = part_.data() + i * 3 * w + w, *c = b + w, *turned = turned_.data() + i * 6 * w;
    const double *gs = scalar_gradient + i * w, *gv = vector_gradient + i * 3 * w;
    double *ga = part_gradient_.data() + i * 3 * w, *gb = ga + w, *gc = gb + w;
    double* gt = turned_gradient_.data() + i * 6 * w;
    for (std::size_t k = 0; k < w; ++k) {
      double product = 0.0, along = 0.0;
      for (std::size_t x = 0; x < 3; ++x) {
        const double u = turned[2 * x * w + k], v = turned[(2 * x + 1) * w + k];
        product += u * v;
        along += gv[x * w + k] * u;
        gt[2 * x * w + k] = gs[k] * b[k] * v + gv[x * w + k] * c[k];
        gt[(2 * x + 1) * w + k] = gs[k] * b[k] * u;
      }
      ga[k] = gs[k];
      gb[k] = gs[k] * product;
      gc[k] = along;
    }
  }
}

void Mixing::backward(const MessageModel& model, const MessageLayer& layer, int atoms, const double* scalar,
                      const double* vector, double* scalar_gradient, double* vector_gradient) {
  parts(model, layer, atoms, scalar, vector);
  const auto w = static_cast<std::size_t>(model.width), n = static_cast<std::size_t>(atoms);
  part_gradient_.resize(part_.size());
  turned_gradient_.resize(turned_.size());
  if (model.vectors)
    vectors_backward(w, atoms, scalar_gradient, vector_gradient);
  else
    std::copy_n(scalar_gradient, n * w, part_gradient_.data());
  hidden_gradient_.resize(hidden_.size());
  joined_gradient_.resize(joined_.size());
  layer.mix_out.layer().input_gradient(atoms, part_gradient_.data(), hidden_gradient_.data());
  times_slope(Activation::silu, std::ssize(hidden_), hidden_.data(), active_.data(), hidden_gradient_.data());
  layer.mix_in.layer().input_gradient(atoms, hidden_gradient_.data(), joined_gradient_.data());
  const std::size_t in = static_cast<std::size_t>(layer.mix_in.in);
  for (std::size_t i = 0; i < n; ++i) {
    const double* g = joined_gradient_.data() + i * in;
    for (std::size_t k = 0; k < w; ++k) scalar_gradient[i * w + k] += g[k];
    if (!model.vectors) continue;
    for (std::size_t x = 0; x < 3; ++x)
      for (std::size_t k = 0; k < w; ++k) {
        const std::size_t at = i * 6 * w + (2 * x + 1) * w + k;
        turned_gradient_[at] += g[w + k] * turned_[at] / length_[i * w + k];
      }
  }
  if (model.vectors) layer.vectors.layer().input_gradient(3 * atoms, turned_gradient_.data(), vector_gradient, true);
}

}  // namespace cambium::graph
