#pragma once
#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// Limited-memory BFGS (Nocedal 1980; Liu and Nocedal 1989), one iteration a step at the learning rate, without line
/// search, as torch.optim.LBFGS with max_iter = 1. Of the last `history` steps s and differences of gradients y, those
/// with s y > 1e-10, the two-loop recursion gives d = -H g with H_0 = s y / y y; w <- w + rate d. The first step is
/// along -g, shortened by 1 / |g|_1 where that is more than one. A step that is not a descent direction (g d > -1e-9)
/// is skipped.
class Lbfgs : public Optimizer {
 public:
  struct Params {
    std::int64_t history = 10;
    static void describe(deck::Describe<Params>& d) {
      d("history_size", &Params::history, "number of past steps that approximate the curvature").range(1, 1000).def(10);
    }
  };
  Lbfgs(const Params& params, Context&) : params_(params) {}
  /// "gradient" and "step", the last ones, then "difference_k" and "step_k" for each entry of the history.
  std::vector<StateInfo> states(DType weights) const override;
  void step(const Update& update) override;
  bool elementwise() const override { return false; }
  bool by_tensor() const override { return false; }
  bool full_batch() const override { return true; }
  std::vector<double> kept() const override { return {static_cast<double>(pairs_), scale_}; }
  void take(std::span<const double> kept) override;
  std::vector<Citation> citations() const override;

 private:
  template <class T>
  void remember(const Update& update);
  template <class T>
  std::vector<T> direction(const Update& update) const;
  template <class T>
  void step_in(const Update& update);
  Params params_;
  std::int64_t pairs_ = 0;  ///< number added to the history so far; it keeps the last ones
  double scale_ = 1.0;      ///< H_0
};

}  // namespace cambium::train
