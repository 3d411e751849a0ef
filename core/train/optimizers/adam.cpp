#include "core/train/optimizers/adam.hpp"

#include "core/train/optimizers/device_kernel.hpp"
#include "core/train/optimizers/for_each_number.hpp"
#include "core/train/optimizers/split.hpp"

namespace cambium::train {

static void adam_update(const Update& u, const AdamParams& params, bool decoupled) {
  detail::for_each_tensor(u.weights, params.groups, params.weight_decay, [&]<class T>(std::size_t k, TensorKeys keys) {
    const auto w = u.weights.values<T>(k);
    const auto g = u.gradients.values<T>(k);
    const auto m = u.states[0].values<T>(k), v = u.states[1].values<T>(k);
    const AdamStep<T> advance(params, keys.rate * u.rate, u.step, keys.weight_decay, decoupled);
    detail::for_each_number(w.size(), [&](std::size_t i) { w[i] = advance(w[i], g[i], m[i], v[i]); });
  });
}

namespace detail {

template <class T>
struct AdamOnDevice {
  AdamStep<T> plain, decaying;
  T *mean, *square;
  AdamOnDevice(const AdamStep<T>& p, const AdamStep<T>& d, T* m, T* s) : plain(p), decaying(d), mean(m), square(s) {}
  CAMBIUM_FN T operator()(std::int64_t i, bool decays, T w, T g) const {
    return (decays ? decaying : plain)(w, g, mean[i], square[i]);
  }
};

}  // namespace detail

static void adam_on_device(const DeviceUpdate& u, const AdamParams& p, bool decoupled) {
  with_real(u.dtype, [&]<class T>() {
    const AdamStep<T> plain(p, u.rate, u.step, 0.0, decoupled), decaying(p, u.rate, u.step, p.weight_decay, decoupled);
    T *const mean = static_cast<T*>(u.states[0]), *const square = static_cast<T*>(u.states[1]);
    detail::step_by_kernel<T>(u, detail::AdamOnDevice<T>(plain, decaying, mean, square));
  });
}

std::vector<Optimizer::StateInfo> Adam::states(DType weights) const { return {{"mean", weights}, {"square", weights}}; }
std::vector<Optimizer::StateInfo> AdamW::states(DType weights) const {
  return {{"mean", weights}, {"square", weights}};
}
std::vector<Optimizer::StateInfo> SplitAdamW::states(DType weights) const {
  require_float32("split_adamw", weights);
  return {{"low_bits", DType::bf16}, {"mean", DType::f32}, {"square", DType::f32}};
}

void Adam::step(const Update& u) { adam_update(u, params_, false); }
void AdamW::step(const Update& u) { adam_update(u, params_, true); }
void Adam::step_on_device(const DeviceUpdate& u) const { adam_on_device(u, params_, false); }
void AdamW::step_on_device(const DeviceUpdate& u) const { adam_on_device(u, params_, true); }

void SplitAdamW::start(FlatBuffer& weights, std::span<FlatBuffer> states) { split_weights(weights, states[0]); }

void SplitAdamW::step(const Update& u) {
  with_high(u.weights.dtype(), [&]<class H>() {
    for (std::size_t k = 0; k < u.weights.layout().tensors().size(); ++k) {
      const auto high = u.weights.values<H>(k);
      const auto low = u.states[0].values<std::uint16_t>(k);
      const auto g = u.gradients.values<float>(k);
      const auto m = u.states[1].values<float>(k), v = u.states[2].values<float>(k);
      const bool decays = u.weights.layout().tensors()[k].info.decay;
      const AdamStep<float> advance(params_, u.rate, u.step, decays ? params_.weight_decay : 0.0, true);
      detail::for_each_number(high.size(), [&](std::size_t i) {
        const float w = advance(join(high[i], low[i]), g[i], m[i], v[i]);
        set_high(high[i], w);
        low[i] = low_half(w);
      });
    }
  });
}

const Citation adam_citation{"kingma2015adam", R"(@inproceedings{kingma2015adam,
  author = {Kingma, Diederik P. and Ba, Jimmy},
  title = {Adam: A Method for Stochastic Optimization},
  booktitle = {3rd International Conference on Learning Representations},
  year = {2015}
})"};

static const Citation adamw_citation{"loshchilov2019adamw", R"(@inproceedings{loshchilov2019adamw,
  author = {Loshchilov, Ilya and Hutter, Frank},
  title = {Decoupled Weight Decay Regularization},
  booktitle = {7th International Conference on Learning Representations},
  year = {2019}
})"};

std::vector<Citation> Adam::citations() const { return {adam_citation}; }
std::vector<Citation> AdamW::citations() const { return {adam_citation, adamw_citation}; }
std::vector<Citation> SplitAdamW::citations() const { return {adam_citation, adamw_citation, split_citation}; }

}  // namespace cambium::train
