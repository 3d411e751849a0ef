#pragma once
#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// Schedule-free AdamW (Defazio et al., "The Road Less Scheduled", NeurIPS 2024, algorithm 1). Gradients are taken at y
/// = (1 - b1) z + b1 x; v <- b2 v + (1 - b2) g^2, z <- z - r (g / (sqrt(v) + epsilon) + beta y) with r = rate sqrt(1 -
/// b2^t), x <- x + c (z - x) with c = r^2 / sum of r^2. The trained weights are y; their mean x is validated and
/// exported.
class ScheduleFreeAdamW : public Optimizer {
 public:
  struct Params {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.0;
    ParameterGroups groups = {};
    static void describe(deck::Describe<Params>& d) {
      d("beta1", &Params::beta1, "weight of the averaged weights in the point at which gradients are taken")
          .non_negative()
          .less_than(1.0)
          .def(0.9);
      d("beta2", &Params::beta2, "decay rate of the second-moment estimate (mean squared gradient)")
          .non_negative()
          .less_than(1.0)
          .def(0.999);
      d("epsilon", &Params::epsilon, "constant added to the root of the mean squared gradient").positive().def(1e-8);
      d("weight_decay", &Params::weight_decay, detail::decoupled_decay).non_negative().def(0.0);
      detail::describe_groups(d);
    }
  };
  ScheduleFreeAdamW(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override {
    return {{"base", weights}, {"averaged", weights}, {"square", weights}};
  }
  std::optional<std::size_t> served_state() const override { return 1; }
  void start(FlatBuffer& weights, std::span<FlatBuffer> states) override;
  void step(const Update& update) override;
  std::vector<double> kept() const override { return {static_cast<double>(counted_), sum_}; }
  void take(std::span<const double> kept) override;
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  std::vector<Citation> citations() const override;

 private:
  double share_of(std::int64_t step, double rate);

  Params params_;
  std::int64_t counted_ = 0;  ///< the last step in sum_
  double sum_ = 0.0;          ///< of r^2
};

}  // namespace cambium::train
