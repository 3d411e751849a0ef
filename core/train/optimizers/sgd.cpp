#include "core/train/optimizers/sgd.hpp"

#include "core/train/optimizers/device_kernel.hpp"
#include "core/train/optimizers/for_each_number.hpp"
#include "core/train/optimizers/split.hpp"

namespace cambium::train {

namespace detail {

/// The update used by all variants, with explicit fused multiply-add so that rounding is the same everywhere.
template <class T>
CAMBIUM_FN T sgd_step(T weight, T gradient, T* velocity, T momentum, T decay, T rate, bool nesterov) {
  T direction = std::fma(decay, weight, gradient);
  if (velocity) {
    *velocity = std::fma(momentum, *velocity, direction);
    direction = nesterov ? std::fma(momentum, *velocity, direction) : *velocity;
  }
  return std::fma(-rate, direction, weight);
}

template <class T>
struct SgdOnDevice {
  T momentum, decay, rate;
  bool nesterov;
  T* velocity;  ///< null without momentum
  SgdOnDevice(T m, T d, T r, bool n, T* v) : momentum(m), decay(d), rate(r), nesterov(n), velocity(v) {}
  CAMBIUM_FN T operator()(std::int64_t i, bool decays, T w, T g) const {
    return sgd_step(w, g, velocity ? velocity + i : velocity, momentum, decays ? decay : T(0), rate, nesterov);
  }
};

}  // namespace detail

void Sgd::step_on_device(const DeviceUpdate& u) const {
  with_real(u.dtype, [&]<class T>() {
    const detail::SgdOnDevice<T> rule(static_cast<T>(params_.momentum), static_cast<T>(params_.weight_decay),
                                      static_cast<T>(u.rate), params_.nesterov, static_cast<T*>(u.states[0]));
    detail::step_by_kernel<T>(u, rule);
  });
}

std::vector<Optimizer::StateInfo> Sgd::states(DType weights) const {
  if (params_.momentum == 0.0) return {};
  return {{"momentum", weights}};
}

void Sgd::step(const Update& u) {
  detail::for_each_tensor(
      u.weights, params_.groups, params_.weight_decay, [&]<class T>(std::size_t k, TensorKeys keys) {
        const auto w = u.weights.values<T>(k);
        const auto g = u.gradients.values<T>(k);
        T* v = u.states.empty() ? nullptr : u.states[0].values<T>(k).data();
        const T momentum = static_cast<T>(params_.momentum), rate = static_cast<T>(keys.rate * u.rate);
        const T decay = static_cast<T>(keys.weight_decay);
        detail::for_each_number(w.size(), [&](std::size_t i) {
          w[i] = detail::sgd_step(w[i], g[i], v ? v + i : nullptr, momentum, decay, rate, params_.nesterov);
        });
      });
}

std::vector<Optimizer::StateInfo> SplitSgd::states(DType weights) const {
  require_float32("split_sgd", weights);
  std::vector<StateInfo> out{{"low_bits", DType::bf16}};
  if (params_.momentum != 0.0) out.push_back({"momentum", DType::f32});
  return out;
}

void SplitSgd::start(FlatBuffer& weights, std::span<FlatBuffer> states) { split_weights(weights, states[0]); }

void SplitSgd::step(const Update& u) {
  const auto momentum = static_cast<float>(params_.momentum), rate = static_cast<float>(u.rate);
  with_high(u.weights.dtype(), [&]<class H>() {
    for (std::size_t k = 0; k < u.weights.layout().tensors().size(); ++k) {
      const auto high = u.weights.values<H>(k);
      const auto low = u.states[0].values<std::uint16_t>(k);
      const auto g = u.gradients.values<float>(k);
      float* v = u.states.size() > 1 ? u.states[1].values<float>(k).data() : nullptr;
      const float decay = u.weights.layout().tensors()[k].info.decay ? static_cast<float>(params_.weight_decay) : 0.0f;
      detail::for_each_number(high.size(), [&](std::size_t i) {
        const float w =
            detail::sgd_step(join(high[i], low[i]), g[i], v ? v + i : nullptr, momentum, decay, rate, false);
        set_high(high[i], w);
        low[i] = low_half(w);
      });
    }
  });
}

std::vector<Citation> SplitSgd::citations() const { return {split_citation}; }

}  // namespace cambium::train
