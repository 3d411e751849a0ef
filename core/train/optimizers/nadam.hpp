#pragma once
#include <array>

#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// NAdam (Dozat 2016), as torch.optim.NAdam: Adam with Nesterov's momentum, whose coefficient mu_t = b1 (1 - 0.96^(t
/// psi) / 2) increases with the step t.
class NAdam : public Optimizer {
 public:
  struct Params {
    std::array<double, 2> betas{0.9, 0.999};
    double eps = 1e-8, weight_decay = 0.0, momentum_decay = 4e-3;
    ParameterGroups groups = {};
    static void describe(deck::Describe<Params>& d) {
      d("betas", &Params::betas, "decay rates of the mean gradient and of the mean squared gradient, 0 to 1")
          .def({0.9, 0.999});
      d("eps", &Params::eps, "constant added to the root of the mean squared gradient").positive().def(1e-8);
      d("weight_decay", &Params::weight_decay, detail::coupled_decay).non_negative().def(0.0);
      d("momentum_decay", &Params::momentum_decay, "rate psi at which the momentum coefficient rises to the first beta")
          .non_negative()
          .def(4e-3);
      detail::describe_groups(d);
      d.check([](const Params& p) { return detail::betas_problem(p.betas); });
    }
  };
  NAdam(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override { return {{"mean", weights}, {"square", weights}}; }
  void step(const Update& update) override;
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  std::vector<Citation> citations() const override;

 private:
  double coefficient(std::int64_t step) const;
  double product_to(std::int64_t step);

  Params params_;
  std::int64_t reached_ = 0;  ///< step of product_, which depends only on the step number
  double product_ = 1.0;
};

}  // namespace cambium::train
