#include "core/train/optimizers/layerwise.hpp"

namespace cambium::train {

void Lars::step(const Update& u) {
  const auto weights = squared_norms(u.weights), gradients = squared_norms(u.gradients);
  detail::for_each_tensor(u.weights, [&]<class T>(std::size_t k, bool decays) {
    const double beta = decays ? params_.weight_decay : 0.0;
    const double w_norm = std::sqrt(weights[k]), g_norm = std::sqrt(gradients[k]);
    double lambda = 1.0;
    if (decays && w_norm > 0.0 && g_norm > 0.0) lambda = params_.trust * w_norm / (g_norm + beta * w_norm);
    const T step = static_cast<T>(u.rate * lambda), decay = static_cast<T>(beta),
            momentum = static_cast<T>(params_.momentum);
    const auto w = u.weights.values<T>(k), v = u.states[0].values<T>(k);
    const auto g = u.gradients.values<T>(k);
    for (std::size_t i = 0; i < w.size(); ++i) {
      v[i] = std::fma(momentum, v[i], step * std::fma(decay, w[i], g[i]));
      w[i] -= v[i];
    }
  });
}

void Lamb::step(const Update& u) {
  // Sharded weights come group by group, each with a layout of its own, which lives as long as this call.
  const auto bytes = static_cast<std::size_t>(u.weights.bytes());
  if (direction_bytes_.size() < bytes) direction_bytes_.resize(bytes);
  FlatBuffer direction = FlatBuffer::on(u.weights.layout(), u.weights.dtype(), direction_bytes_.data());
  detail::for_each_tensor(u.weights, [&]<class T>(std::size_t k, bool decays) {
    const auto w = u.weights.values<T>(k), m = u.states[0].values<T>(k), v = u.states[1].values<T>(k);
    const auto d = direction.values<T>(k);
    const auto g = u.gradients.values<T>(k);
    const AdamStep<T> advance(params_, 1.0, u.step, 0.0, false);
    const T decay = static_cast<T>(decays ? params_.weight_decay : 0.0);
    for (std::size_t i = 0; i < w.size(); ++i)
      d[i] = std::fma(decay, w[i], advance.rate * advance.direction(g[i], m[i], v[i]));
  });
  const auto weights = squared_norms(u.weights), directions = squared_norms(direction);
  detail::for_each_tensor(u.weights, [&]<class T>(std::size_t k, bool decays) {
    double trust = 1.0;
    if (decays && weights[k] > 0.0 && directions[k] > 0.0) trust = std::sqrt(weights[k]) / std::sqrt(directions[k]);
    const T step = static_cast<T>(u.rate * trust);
    const auto w = u.weights.values<T>(k), d = direction.values<T>(k);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = std::fma(-step, d[i], w[i]);
  });
}

static const Citation lars_citation{"you2017lars", R"(@article{you2017lars,
  author = {You, Yang and Gitman, Igor and Ginsburg, Boris},
  title = {Large Batch Training of Convolutional Networks},
  journal = {arXiv:1708.03888},
  year = {2017}
})"};

static const Citation lamb_citation{"you2020lamb", R"(@inproceedings{you2020lamb,
  author = {You, Yang and Li, Jing and Reddi, Sashank and Hseu, Jonathan and Kumar, Sanjiv and Bhojanapalli, Srinadh and Song, Xiaodan and Demmel, James and Keutzer, Kurt and Hsieh, Cho-Jui},
  title = {Large Batch Optimization for Deep Learning: Training {BERT} in 76 Minutes},
  booktitle = {8th International Conference on Learning Representations},
  year = {2020}
})"};

std::vector<Citation> Lars::citations() const { return {lars_citation}; }
std::vector<Citation> Lamb::citations() const { return {adam_citation, lamb_citation}; }

}  // namespace cambium::train
