#include "plugins/submatrix/submatrices/solver_choice.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/submatrix/columns/edges.hpp"

namespace cambium::submatrix {

/// Submatrices of no more functions are diagonalised where their own error must not matter.
static constexpr int small = 300;

std::unique_ptr<ColumnSolver> SolverChoice::make(const KrylovOptions& krylov) const {
  const auto& [system, options, context, result] = job_;
  const int blocks = job_.blocks();
  if (options.make_solver) return options.make_solver(krylov);
  if (system.bonds)
    return options.solver == SolverKind::diagonalise ? make_saturated_diagonaliser(*system.bonds)
                                                     : make_saturated_lanczos(*system.bonds, krylov);
  if (options.form == Form::local)
    return make_local_diagonaliser(blocks, *patterns_.overlap(), options.overlap_threshold);
  if (options.solver == SolverKind::diagonalise) return make_diagonaliser(blocks);
  if (options.solver != SolverKind::lanczos)
    return make_sign_iteration(blocks, options.solver == SolverKind::pade, options.precision, mu_);
  if (options.precision == Precision::float32) return make_lanczos<float>(blocks, krylov);
  return make_lanczos<double>(blocks, krylov);
}

KrylovOptions SolverChoice::krylov() const {
  const auto& options = job_.options;
  KrylovOptions out;
  // The error of the energy is about the square of the residual, that of D the residual itself.
  out.tolerance =
      options.krylov_tolerance > 0.0 ? options.krylov_tolerance : std::clamp(10.0 * options.eps, 2e-6, 1e-2);
  if (first_blocks_ > 0) out.first = first_blocks_;
  if (job_.system.bonds) out.step = 4, out.most = 300;  // products are cheap, looking is not
  return out;
}

ColumnSolver& SolverChoice::of(const PrincipalIndex& index) {
  const int width = index.width, largest = job_.system.layout->largest();
  if (job_.options.solver == SolverKind::lanczos && width > largest && 2 * width * first_blocks_ > index.dimension()) {
    if (!dense_) dense_ = make_diagonaliser(job_.blocks());
    return *dense_;
  }
  // The norm of the last Krylov block adds up over the columns. Each width has its own tolerance, so that what comes
  // out does not depend on what the same rank solved before.
  const auto factor = [largest](int columns) {
    return std::sqrt(std::max(1.0, static_cast<double>(columns) / largest));
  };
  if (!kept_ || width > width_ || factor(width) != factor(width_)) {
    KrylovOptions options = krylov();
    options.tolerance *= factor(width);
    kept_ = make(options);
    width_ = width;
  }
  return *kept_;
}

ExactSolvers SolverChoice::exact(const std::optional<ColumnSet>& overlap, double tolerance) const {
  const auto& options = job_.options;
  KrylovOptions krylov = this->krylov();
  krylov.tolerance = tolerance;
  krylov.most = std::max(krylov.most, 300);
  ExactSolvers out;
  if (options.make_solver || job_.system.bonds)
    out.small = make(krylov);
  else if (options.form == Form::local)
    out.small = make_local_diagonaliser(job_.blocks(), *overlap, options.overlap_threshold);
  else {
    out.small = make_diagonaliser(job_.blocks());
    out.small_until = small;
  }
  if (out.small_until > 0 && options.solver != SolverKind::diagonalise)
    out.large = make_lanczos<double>(job_.blocks(), krylov);
  return out;
}

}  // namespace cambium::submatrix
