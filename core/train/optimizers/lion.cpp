#include "core/train/optimizers/lion.hpp"

#include "core/train/optimizers/for_each_number.hpp"

namespace cambium::train {

void Lion::step(const Update& u) {
  detail::for_each_tensor(
      u.weights, params_.groups, params_.weight_decay, [&]<class T>(std::size_t k, TensorKeys keys) {
        const auto w = u.weights.values<T>(k), m = u.states[0].values<T>(k);
        const auto g = u.gradients.values<T>(k);
        const double rate = keys.rate * u.rate;
        const T beta1 = static_cast<T>(params_.betas[0]), beta2 = static_cast<T>(params_.betas[1]);
        const T rest1 = static_cast<T>(1.0 - params_.betas[0]), rest2 = static_cast<T>(1.0 - params_.betas[1]);
        const T step = static_cast<T>(rate), keep = static_cast<T>(1.0 - rate * keys.weight_decay);
        detail::for_each_number(w.size(), [&](std::size_t i) {
          const T direction = std::fma(beta1, m[i], rest1 * g[i]);
          const T sign = direction > T(0) ? T(1) : direction < T(0) ? T(-1) : T(0);
          w[i] = std::fma(-step, sign, keep * w[i]);
          m[i] = std::fma(beta2, m[i], rest2 * g[i]);
        });
      });
}

std::vector<Citation> Lion::citations() const {
  return {{"chen2023lion", R"(@inproceedings{chen2023lion,
  author = {Chen, Xiangning and Liang, Chen and Huang, Da and Real, Esteban and Wang, Kaiyuan and Pham, Hieu and Dong, Xuanyi and Luong, Thang and Hsieh, Cho-Jui and Lu, Yifeng and Le, Quoc V.},
  title = {Symbolic Discovery of Optimization Algorithms},
  booktitle = {Advances in Neural Information Processing Systems 36},
  year = {2023}
})"}};
}

}  // namespace cambium::train
