#pragma once
#include "core/train/optimizers/device_update.hpp"
#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// Stochastic gradient descent: g <- g + beta w, v <- m v + g, w <- w - rate v (nesterov: w <- w - rate (g + m v)).
/// Without momentum there is no state.
class Sgd : public Optimizer, public StepsOnDevice {
 public:
  struct Params {
    double momentum = 0.0, weight_decay = 0.0;
    bool nesterov = false;
    ParameterGroups groups = {};
    static void describe(deck::Describe<Params>& d) {
      d("momentum", &Params::momentum, "momentum coefficient").non_negative().less_than(1.0).def(0.0);
      d("weight_decay", &Params::weight_decay, detail::coupled_decay).non_negative().def(0.0);
      d("nesterov", &Params::nesterov, "Nesterov momentum: the gradient is evaluated after the momentum step")
          .def(false);
      detail::describe_groups(d);
      d.check([](const Params& p) -> std::string {
        return p.nesterov && p.momentum == 0.0 ? "nesterov looks ahead along the momentum, which is 0; give momentum"
                                               : "";
      });
    }
  };
  Sgd(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override;
  void step(const Update& update) override;
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  void step_on_device(const DeviceUpdate& update) const override;

 private:
  Params params_;
};

/// SGD on split float32 weights: the network uses the upper 16 bits (bfloat16 by truncation), the lower 16 are a state
/// of the optimizer; together they are bitwise identical to float32 SGD (Kalamkar et al., SC20).
class SplitSgd : public Optimizer {
 public:
  struct Params {
    double momentum = 0.0, weight_decay = 0.0;
    static void describe(deck::Describe<Params>& d) {
      d("momentum", &Params::momentum, "momentum coefficient").non_negative().less_than(1.0).def(0.0);
      d("weight_decay", &Params::weight_decay, detail::coupled_decay_without_groups).non_negative().def(0.0);
    }
  };
  SplitSgd(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override;
  void start(FlatBuffer& weights, std::span<FlatBuffer> states) override;
  void step(const Update& update) override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

}  // namespace cambium::train
