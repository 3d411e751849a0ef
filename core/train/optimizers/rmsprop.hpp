#pragma once
#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// RMSprop (Tieleman and Hinton 2012), as torch.optim.RMSprop: g <- g + beta w, v <- a v + (1 - a) g^2,
/// d = g / (sqrt(v) + eps), or with the mean m of g (centered) g / (sqrt(v - m^2) + eps); w <- w - rate d, or with
/// momentum b <- mu b + d, w <- w - rate b.
class RmsProp : public Optimizer {
 public:
  struct Params {
    double alpha = 0.99, eps = 1e-8, weight_decay = 0.0, momentum = 0.0;
    bool centered = false;
    ParameterGroups groups = {};
    static void describe(deck::Describe<Params>& d) {
      d("alpha", &Params::alpha, "decay rate of the mean squared gradient").non_negative().less_than(1.0).def(0.99);
      d("eps", &Params::eps, "constant added to the root of the mean squared gradient").positive().def(1e-8);
      d("weight_decay", &Params::weight_decay, detail::coupled_decay).non_negative().def(0.0);
      d("momentum", &Params::momentum, "momentum coefficient").non_negative().less_than(1.0).def(0.0);
      d("centered", &Params::centered, "normalise by the variance of the gradient instead of its mean square")
          .def(false);
      detail::describe_groups(d);
    }
  };
  RmsProp(const Params& params, Context&) : params_(params) {}
  /// "square", then "mean" and "momentum" if used.
  std::vector<StateInfo> states(DType weights) const override;
  void step(const Update& update) override;
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

}  // namespace cambium::train
