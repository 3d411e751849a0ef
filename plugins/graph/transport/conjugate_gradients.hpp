#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/graph/transport/node_range.hpp"

namespace cambium::graph {

/// Solves (M + s_k K) u_k = b_k for several columns k at once, M diagonal and positive, K symmetric and positive
/// semi-definite: conjugate gradients with Jacobi preconditioner (Saad, "Iterative Methods for Sparse Linear Systems",
/// 9.2). Sums are exact, so that iterations and results do not depend on the ranks.
class ConjugateGradients {
 public:
  struct System {
    const sparse::Csr<double>* stiffness;  ///< own rows of K
    std::span<const double> mass;          ///< of own nodes
    std::span<const char> fixed;           ///< own nodes with values prescribed in `u`; empty: none
    std::vector<double> scale;             ///< s_k
  };
  ConjugateGradients(NodeRange& range, double tolerance) : range_(range), tolerance_(tolerance) {}

  /// Collective. u: local x columns, in: initial guess; out: the solution, without the rows of neighbours. b: own x
  /// columns. Stops when the residual, in the norm of the preconditioner, is below the tolerance times that of b (or of
  /// the first residual, if larger). NumericalError after `most` iterations.
  void solve(const System& system, std::span<double> u, std::span<const double> b);
  std::int64_t steps() const { return steps_; }  ///< of all solutions
  std::int64_t bytes() const { return bytes_in(residual_, direction_, image_, inverse_, scaled_); }

  static constexpr int most = 2000;

 private:
  void prepare(const System& system, std::span<double> u, std::span<const double> b);
  void apply(const System& system, std::span<double> in, std::span<double> out);
  /// Dot products of two own arrays, for each column.
  std::vector<double> products(std::span<const double> a, std::span<const double> b) const;

  NodeRange& range_;
  double tolerance_;
  std::int64_t steps_ = 0;
  std::vector<double> residual_, direction_, image_, inverse_, scaled_;
};

}  // namespace cambium::graph
