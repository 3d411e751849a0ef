#pragma once
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// SOAP (Vyas et al. 2024): Adam in the eigenbases of Shampoo's preconditioners of both sides of each matrix. With G of
/// n x m: L <- b3 L + (1 - b3) G G^T, R <- b3 R + (1 - b3) G^T G; Q and P are their eigenvectors, at the first step
/// exact and then every `refresh` steps those of one power iteration, the Q factor of (L + tiny) Q. With
/// M <- b1 M + (1 - b1) G and V <- b2 V + (1 - b2) (Q^T G P)^2,
/// w <- w (1 - rate beta) - rate Q (Q^T M P / (1 - b1^t) / (sqrt(V / (1 - b2^t)) + eps)) P^T.
/// If one side is more than `most_ratio` times as long as the other, or longer than `longest`, only the smaller side is
/// rotated (one-sided SOAP: P = 1). Arrays of more axes are treated as matrices of (first axis, all others). Vectors,
/// and matrices whose smaller side is longer than `longest`, use AdamW. L and Q of the smaller side occupy n n of the n
/// m elements of a state each, those of the longer side as many states as `most_ratio` requires.
class Soap : public Optimizer {
 public:
  struct Params {
    std::array<double, 2> betas{0.95, 0.95};
    std::optional<double> shampoo_beta;
    double eps = 1e-8, weight_decay = 0.01;
    std::int64_t refresh = 10, longest = 4096;
    double most_ratio = 1.0;
    ParameterGroups groups = {};
    static void describe(deck::Describe<Params>& d) {
      d("betas", &Params::betas, "decay rates of the mean gradient and of the mean squared gradient, 0 to 1")
          .def({0.95, 0.95});
      d("shampoo_beta", &Params::shampoo_beta, "decay rate of the preconditioner; default: the second of betas")
          .non_negative()
          .less_than(1.0);
      d("eps", &Params::eps, "constant added to the root of the mean squared gradient").positive().def(1e-8);
      d("weight_decay", &Params::weight_decay, detail::decoupled_decay).non_negative().def(0.01);
      d("precondition_frequency", &Params::refresh, "number of steps between two updates of the eigenbasis")
          .at_least(1)
          .def(10);
      d("max_precond_dim", &Params::longest,
        "longest smaller side of a matrix that is preconditioned; larger matrices take AdamW's step")
          .at_least(1)
          .def(4096);
      d("max_aspect_ratio", &Params::most_ratio,
        "ratio of the longer to the smaller side up to which both sides of a matrix are preconditioned, rounded up: 1 "
        "for square matrices; 0 for the smaller side of all. Each unit takes two values per parameter")
          .range(0.0, 64.0)
          .def(1.0);
      detail::describe_groups(d);
      d.check([](const Params& p) { return detail::betas_problem(p.betas); });
    }
  };
  Soap(const Params& params, Context&) : params_(params) {}
  std::vector<StateInfo> states(DType weights) const override {
    std::vector<StateInfo> out{
        {"mean", weights}, {"square", weights}, {"preconditioner", weights}, {"eigenbasis", weights}};
    for (const char* name : {"longer_preconditioner", "longer_eigenbasis"})
      for (std::size_t k = 0; k < ratio(); ++k) out.push_back({fmt::format("{}_{}", name, k), weights});
    return out;
  }
  void step(const Update& update) override;
  bool elementwise() const override { return false; }
  std::span<const ParameterGroup> groups() const override { return params_.groups; }
  std::vector<Citation> citations() const override;

 private:
  std::size_t ratio() const { return static_cast<std::size_t>(std::ceil(params_.most_ratio)); }
  bool both_sides(std::int64_t rows, std::int64_t columns) const;
  template <class T>
  void step_matrix(const Update& update, std::size_t k, TensorKeys keys, std::int64_t rows, std::int64_t columns);
  template <class T>
  void step_vector(const Update& update, std::size_t k, TensorKeys keys);
  Params params_;
};

/// Eigenvectors of the symmetric n x n matrix, row j the one of the j-th largest eigenvalue.
std::vector<double> ordered_eigenvectors(int n, std::span<const double> matrix);

/// One step of orthogonal iteration: the rows of `basis` (n x n, orthonormal) become the orthonormal rows of basis
/// (matrix + 1e-9 trace / n), so null directions of the matrix are preserved. A zero matrix leaves the basis unchanged.
void turn_basis(int n, std::span<const double> matrix, std::span<double> basis);

}  // namespace cambium::train
