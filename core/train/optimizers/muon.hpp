#pragma once
#include <array>

#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// Muon (Jordan et al. 2024): for every matrix the momentum m <- mu m + (1 - mu) g, or with Nesterov's gradient (1 -
/// mu) g + mu m, is mapped close to the nearest orthogonal matrix O by a Newton-Schulz iteration, and w <- w (1 - rate
/// beta) - rate s O with s = sqrt(max(1, rows / columns)), as torch.optim.Muon. Arrays of more axes are treated as
/// matrices of (first axis, all others). Vectors and scalars use AdamW at `vector_rate` times the rate.
class Muon : public Optimizer {
 public:
  struct Params {
    double momentum = 0.95, weight_decay = 0.1, eps = 1e-7, vector_rate = 1.0;
    bool nesterov = true;
    std::int64_t iterations = 5;
    std::array<double, 2> betas{0.9, 0.999};
    ParameterGroups groups = {};
    static void describe(deck::Describe<Params>& d) {
      d("momentum", &Params::momentum, "momentum coefficient").non_negative().less_than(1.0).def(0.95);
      d("weight_decay", &Params::weight_decay, detail::decoupled_decay).non_negative().def(0.1);
      d("nesterov", &Params::nesterov, "Nesterov momentum: the gradient is evaluated after the momentum step")
          .def(true);
      d("ns_steps", &Params::iterations, "number of Newton-Schulz iterations").range(1, 100).def(5);
      d("eps", &Params::eps, "smallest norm that a momentum is divided by").positive().def(1e-7);
      d("vector_rate", &Params::vector_rate, "learning rate of vectors (AdamW) over that of matrices")
          .non_negative()
          .def(1.0);
      d("betas", &Params::betas, "decay rates of the mean and mean squared gradient of vectors (AdamW), 0 to 1")
          .def({0.9, 0.999});
      detail::describe_groups(d);
      d.check([](const Params& p) { return detail::betas_problem(p.betas); });
    }
  };
  Muon(const Params& params, Context&) : params_(params) {}
  /// "momentum" of matrices and mean of vectors; "square" only for vectors.
  std::vector<StateInfo> states(DType weights) const override { return {{"momentum", weights}, {"square", weights}}; }
  void step(const Update& update) override;
  bool elementwise() const override { return false; }
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  std::vector<Citation> citations() const override;

 private:
  template <class T>
  void step_matrix(const Update& update, std::size_t k, TensorKeys keys);
  template <class T>
  void step_vector(const Update& update, std::size_t k, TensorKeys keys);
  Params params_;
};

/// Newton-Schulz iterations x <- a x + (b A + c A A) x with A = x x^T, a = 3.4445, b = -4.7750, c = 2.0315, on a
/// row-major (rows, columns) matrix that is first divided by its Frobenius norm: singular values approach one.
template <class T>
void orthogonalise(std::span<T> matrix, std::int64_t rows, std::int64_t columns, std::int64_t iterations, double eps);

}  // namespace cambium::train
