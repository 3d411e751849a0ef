#pragma once
#include <optional>

#include "core/train/optimizers/adam.hpp"

namespace cambium::train {

/// LARS (You, Gitman and Ginsburg 2017), with a separate rate for every tensor with decay: lambda = eta |w| / (|g| +
/// beta |w|), v <- m v + rate lambda (g + beta w), w <- w - v. Tensors without decay (biases, norms) and tensors whose
/// weights or gradient vanish use lambda = 1 and beta = 0.
class Lars : public Optimizer {
 public:
  struct Params {
    double momentum = 0.9, weight_decay = 0.0, trust = 0.001;
    static void describe(deck::Describe<Params>& d) {
      d("momentum", &Params::momentum, "momentum coefficient").non_negative().less_than(1.0).def(0.9);
      d("weight_decay", &Params::weight_decay, "weight decay: multiple of each weight that is added to its gradient")
          .non_negative()
          .def(0.0);
      d("trust_coefficient", &Params::trust,
        "trust coefficient (eta): step length of a tensor relative to its norm at learning rate 1")
          .formerly("trust")
          .positive()
          .def(0.001);
    }
  };
  Lars(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override { return {{"momentum", weights}}; }
  void step(const Update& update) override;
  bool elementwise() const override { return false; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

/// LAMB (You et al. 2020): u = Adam's direction + beta w, w <- w - rate |w| / |u| u for every tensor with decay; the
/// others follow Adam.
class Lamb : public Optimizer {
 public:
  struct Params : AdamParams {
    static void describe(deck::Describe<Params>& d) {
      detail::describe_adam(d, 0.01, "beta: adds beta times the weight to the direction");
    }
  };
  Lamb(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override { return {{"mean", weights}, {"square", weights}}; }
  void step(const Update& update) override;
  bool elementwise() const override { return false; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
  std::vector<std::byte> direction_bytes_;  ///< of the directions, between the two halves of a step
};

}  // namespace cambium::train
