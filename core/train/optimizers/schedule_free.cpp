#include "core/train/optimizers/schedule_free.hpp"

#include "core/train/optimizers/for_each_number.hpp"

namespace cambium::train {

void ScheduleFreeAdamW::start(FlatBuffer& weights, std::span<FlatBuffer> states) {
  states[0].copy_from(weights);
  states[1].copy_from(weights);
}

void ScheduleFreeAdamW::take(std::span<const double> kept) {
  if (kept.size() != 2) return;
  counted_ = static_cast<std::int64_t>(kept[0]);
  sum_ = kept[1];
}

/// Coefficient c of this step, which may be made in several parts.
double ScheduleFreeAdamW::share_of(std::int64_t step, double rate) {
  if (step != counted_) sum_ += rate * rate;
  counted_ = step;
  return sum_ > 0.0 ? rate * rate / sum_ : 0.0;
}

void ScheduleFreeAdamW::step(const Update& u) {
  const auto& p = params_;
  const double rate = u.rate * std::sqrt(1.0 - std::pow(p.beta2, static_cast<double>(u.step)));
  const double mixed = share_of(u.step, rate);
  detail::for_each_tensor(u.weights, p.groups, p.weight_decay, [&]<class T>(std::size_t k, TensorKeys keys) {
    const auto y = u.weights.values<T>(k), z = u.states[0].values<T>(k), x = u.states[1].values<T>(k),
               v = u.states[2].values<T>(k);
    const auto g = u.gradients.values<T>(k);
    const T own = static_cast<T>(keys.rate * rate), share = static_cast<T>(mixed), beta1 = static_cast<T>(p.beta1);
    const T beta2 = static_cast<T>(p.beta2), rest2 = static_cast<T>(1.0 - p.beta2);
    const T epsilon = static_cast<T>(p.epsilon), decay = static_cast<T>(keys.weight_decay);
    detail::for_each_number(y.size(), [&](std::size_t i) {
      v[i] = std::fma(beta2, v[i], rest2 * g[i] * g[i]);
      const T direction = std::fma(decay, y[i], g[i] / (std::sqrt(v[i]) + epsilon));
      z[i] = std::fma(-own, direction, z[i]);
      x[i] = std::fma(share, z[i] - x[i], x[i]);
      y[i] = std::fma(beta1, x[i] - z[i], z[i]);
    });
  });
}

std::vector<Citation> ScheduleFreeAdamW::citations() const {
  return {{"defazio2024road", R"(@inproceedings{defazio2024road,
  author = {Defazio, Aaron and Yang, Xingyu Alice and Mehta, Harsh and Mishchenko, Konstantin and Khaled, Ahmed and Cutkosky, Ashok},
  title = {The Road Less Scheduled},
  booktitle = {Advances in Neural Information Processing Systems 37},
  year = {2024}
})"}};
}

}  // namespace cambium::train
