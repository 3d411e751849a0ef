#include "core/train/optimizers/rmsprop.hpp"

#include "core/train/optimizers/for_each_number.hpp"

namespace cambium::train {

std::vector<Optimizer::StateInfo> RmsProp::states(DType weights) const {
  std::vector<StateInfo> out{{"square", weights}};
  if (params_.centered) out.push_back({"mean", weights});
  if (params_.momentum != 0.0) out.push_back({"momentum", weights});
  return out;
}

void RmsProp::step(const Update& u) {
  const auto& p = params_;
  detail::for_each_tensor(u.weights, p.groups, p.weight_decay, [&]<class T>(std::size_t k, TensorKeys keys) {
    const auto w = u.weights.values<T>(k), v = u.states[0].values<T>(k);
    const auto g = u.gradients.values<T>(k);
    T* const mean = p.centered ? u.states[1].values<T>(k).data() : nullptr;
    T* const velocity = p.momentum != 0.0 ? u.states[p.centered ? 2 : 1].values<T>(k).data() : nullptr;
    const T alpha = static_cast<T>(p.alpha), rest = static_cast<T>(1.0 - p.alpha), eps = static_cast<T>(p.eps);
    const T momentum = static_cast<T>(p.momentum), rate = static_cast<T>(keys.rate * u.rate);
    const T decay = static_cast<T>(keys.weight_decay);
    detail::for_each_number(w.size(), [&](std::size_t i) {
      const T gradient = std::fma(decay, w[i], g[i]);
      v[i] = std::fma(alpha, v[i], rest * gradient * gradient);
      T square = v[i];
      if (mean) {
        mean[i] = std::fma(alpha, mean[i], rest * gradient);
        square = std::max(T(0), std::fma(-mean[i], mean[i], square));
      }
      T direction = gradient / (std::sqrt(square) + eps);
      if (velocity) direction = velocity[i] = std::fma(momentum, velocity[i], direction);
      w[i] = std::fma(-rate, direction, w[i]);
    });
  });
}

std::vector<Citation> RmsProp::citations() const {
  return {{"tieleman2012rmsprop", R"(@misc{tieleman2012rmsprop,
  author = {Tieleman, Tijmen and Hinton, Geoffrey},
  title = {Lecture 6.5 - {RMSProp}},
  howpublished = {COURSERA: Neural Networks for Machine Learning},
  year = {2012}
})"}};
}

}  // namespace cambium::train
