#include "core/train/optimizers/nadam.hpp"

#include "core/train/optimizers/for_each_number.hpp"

namespace cambium::train {

double NAdam::coefficient(std::int64_t step) const {
  return params_.betas[0] * (1.0 - 0.5 * std::pow(0.96, static_cast<double>(step) * params_.momentum_decay));
}

/// Product of the coefficients of all steps up to this one.
double NAdam::product_to(std::int64_t step) {
  if (step < reached_) reached_ = 0, product_ = 1.0;
  while (reached_ < step && product_ > 0.0) product_ *= coefficient(++reached_);
  reached_ = step;
  return product_;
}

void NAdam::step(const Update& u) {
  const auto& p = params_;
  const double product = product_to(u.step), now = coefficient(u.step), next = coefficient(u.step + 1);
  const double correction = 1.0 / std::sqrt(1.0 - std::pow(p.betas[1], static_cast<double>(u.step)));
  detail::for_each_tensor(u.weights, p.groups, p.weight_decay, [&]<class T>(std::size_t k, TensorKeys keys) {
    const auto w = u.weights.values<T>(k), m = u.states[0].values<T>(k), v = u.states[1].values<T>(k);
    const auto g = u.gradients.values<T>(k);
    const double rate = keys.rate * u.rate;
    const T by_gradient = static_cast<T>(rate * (1.0 - now) / (1.0 - product));
    const T by_mean = static_cast<T>(rate * next / (1.0 - product * next));
    const T beta1 = static_cast<T>(p.betas[0]), beta2 = static_cast<T>(p.betas[1]);
    const T rest1 = static_cast<T>(1.0 - p.betas[0]), rest2 = static_cast<T>(1.0 - p.betas[1]);
    const T root = static_cast<T>(correction), eps = static_cast<T>(p.eps), decay = static_cast<T>(keys.weight_decay);
    detail::for_each_number(w.size(), [&](std::size_t i) {
      const T gradient = std::fma(decay, w[i], g[i]);
      m[i] = std::fma(beta1, m[i], rest1 * gradient);
      v[i] = std::fma(beta2, v[i], rest2 * gradient * gradient);
      const T below = std::fma(std::sqrt(v[i]), root, eps);
      w[i] -= std::fma(by_gradient, gradient, by_mean * m[i]) / below;
    });
  });
}

std::vector<Citation> NAdam::citations() const {
  return {{"dozat2016nadam", R"(@inproceedings{dozat2016nadam,
  author = {Dozat, Timothy},
  title = {Incorporating {Nesterov} Momentum into {Adam}},
  booktitle = {4th International Conference on Learning Representations, Workshop Track},
  year = {2016}
})"}};
}

}  // namespace cambium::train
