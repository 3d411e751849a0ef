#pragma once
#include "core/base/pack.hpp"
#include "core/train/optimizers/device_update.hpp"
#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// Numbers that every form of Adam has.
struct AdamParams {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.0;
  ParameterGroups groups = {};
};

namespace detail {
/// Keys common to all variants of Adam.
template <class P>
void describe_adam(deck::Describe<P>& d, double weight_decay, const char* decay_doc) {
  d("beta1", &P::beta1, "decay rate of the first-moment estimate (mean gradient)")
      .non_negative()
      .less_than(1.0)
      .def(0.9);
  d("beta2", &P::beta2, "decay rate of the second-moment estimate (mean squared gradient)")
      .non_negative()
      .less_than(1.0)
      .def(0.999);
  d("epsilon", &P::epsilon, "constant added to the root of the mean squared gradient").positive().def(1e-8);
  d("weight_decay", &P::weight_decay, decay_doc).non_negative().def(weight_decay);
}
}  // namespace detail

/// Adam (Kingma and Ba 2015): m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2,
/// w <- w - rate m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon), g with weight decay added.
class Adam : public Optimizer, public StepsOnDevice {
 public:
  struct Params : AdamParams {
    static void describe(deck::Describe<Params>& d) {
      detail::describe_adam(d, 0.0, detail::coupled_decay);
      detail::describe_groups(d);
    }
  };
  Adam(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override;
  void step(const Update& update) override;
  void step_on_device(const DeviceUpdate& update) const override;
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019): w <- w (1 - rate beta) before the step.
class AdamW : public Optimizer, public StepsOnDevice {
 public:
  struct Params : AdamParams {
    static void describe(deck::Describe<Params>& d) {
      detail::describe_adam(d, 0.01, detail::decoupled_decay);
      detail::describe_groups(d);
    }
  };
  AdamW(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override;
  void step(const Update& update) override;
  void step_on_device(const DeviceUpdate& update) const override;
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

/// AdamW on split weights: upper half for the network, lower half as a state; together they are bitwise identical to
/// float32 AdamW on the same gradients.
class SplitAdamW : public Optimizer {
 public:
  struct Params : AdamParams {
    static void describe(deck::Describe<Params>& d) {
      detail::describe_adam(d, 0.01, detail::decoupled_decay_without_groups);
    }
  };
  SplitAdamW(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override;
  void start(FlatBuffer& weights, std::span<FlatBuffer> states) override;
  void step(const Update& update) override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

/// Constants of one step in the type of the weights, and its arithmetic: the same on host and device.
template <class T>
struct AdamStep {
  T beta1, beta2, one_minus_beta1, one_minus_beta2, epsilon, rate, root_correction, coupled, keep;

  AdamStep(const AdamParams& p, double learning_rate, std::int64_t step, double decay, bool decoupled)
      : beta1(static_cast<T>(p.beta1)), beta2(static_cast<T>(p.beta2)), one_minus_beta1(static_cast<T>(1.0 - p.beta1)),
        one_minus_beta2(static_cast<T>(1.0 - p.beta2)), epsilon(static_cast<T>(p.epsilon)),
        rate(static_cast<T>(learning_rate / (1.0 - std::pow(p.beta1, static_cast<double>(step))))),
        root_correction(static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(p.beta2, static_cast<double>(step))))),
        coupled(static_cast<T>(decoupled ? 0.0 : decay)),
        keep(static_cast<T>(decoupled ? 1.0 - learning_rate * decay : 1.0)) {}

  /// m and v are advanced; returns m-hat / (sqrt(v-hat) + epsilon) times (1 - beta1^t).
  CAMBIUM_FN T direction(T g, T& m, T& v) const {
    m = std::fma(beta1, m, one_minus_beta1 * g);
    v = std::fma(beta2, v, one_minus_beta2 * g * g);
    return m / std::fma(std::sqrt(v), root_correction, epsilon);
  }
  CAMBIUM_FN T operator()(T w, T g, T& m, T& v) const {
    const T d = direction(std::fma(coupled, w, g), m, v);
    return std::fma(-rate, d, keep * w);
  }
};

extern const Citation adam_citation;

}  // namespace cambium::train
