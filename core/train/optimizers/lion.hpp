#pragma once
#include <array>

#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// Lion (Chen et al. 2023): w <- w (1 - rate beta), w <- w - rate sign(b1 m + (1 - b1) g), then m <- b2 m + (1 - b2) g.
class Lion : public Optimizer {
 public:
  struct Params {
    std::array<double, 2> betas{0.9, 0.99};
    double weight_decay = 0.0;
    ParameterGroups groups = {};
    static void describe(deck::Describe<Params>& d) {
      d("betas", &Params::betas, "weights of the momentum in the direction, and its decay rate; 0 to 1")
          .def({0.9, 0.99});
      d("weight_decay", &Params::weight_decay, detail::decoupled_decay).non_negative().def(0.0);
      detail::describe_groups(d);
      d.check([](const Params& p) { return detail::betas_problem(p.betas); });
    }
  };
  Lion(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override { return {{"momentum", weights}}; }
  void step(const Update& update) override;
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

}  // namespace cambium::train
