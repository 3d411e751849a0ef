#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "plugins/submatrix/columns/principal.hpp"

namespace cambium::submatrix {

using MatrixFunction = std::function<double(double)>;

enum class SolverKind { lanczos, diagonalise, newton_schulz, pade };

/// True for solvers that compute the sign function at one mu and no states: nothing shows the gap around mu.
constexpr bool shows_no_states(SolverKind solver) {
  return solver == SolverKind::newton_schulz || solver == SolverKind::pade;
}

/// Inputs of a quadrature for one block column: the trace over the block of f(A) is sum_j weight[j] f(node[j]), for
/// every f.
struct Spectrum {
  std::vector<double> node, weight;
  double trace(const MatrixFunction& f) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < node.size(); ++j) sum += weight[j] * f(node[j]);
    return sum;
  }
};

/// How one block column was solved.
struct SolveReport {
  int steps = 0;          ///< Krylov blocks or iterations
  double residual = 0.0;  ///< solver's own residual: see the solvers
  double flops = 0.0;
  double smallest_overlap = 1.0;  ///< local form: the smallest eigenvalue of the submatrix of S
  bool fell_back = false;         ///< block Lanczos did not converge: the submatrix was diagonalised
};

/// Block columns of functions of one dense symmetric matrix at a time.
class ColumnSolver {
 public:
  virtual ~ColumnSolver() = default;
  /// Takes the submatrix `index` from `columns`; `f` is the function for which an iterative solver controls its error.
  virtual const Spectrum& decompose(const PrincipalIndex& index, const ColumnSet& columns, double eps,
                                    const MatrixFunction& f) = 0;
  /// The block column of f(A) of the last decompose(): dimension x width, row-major.
  virtual void column(const MatrixFunction& f, std::vector<double>& out) = 0;
  virtual const SolveReport& report() const = 0;
};

struct KrylovOptions {
  double tolerance = 1e-4;  ///< of the last block of f(T) E_1, see BlockLanczos
  int first = 6;            ///< Krylov blocks at which convergence is first checked
  int step = 2;             ///< and the number added as long as it has not been reached
  int most = 60;            ///< a submatrix that has not converged then is diagonalised
  bool fall_back = true;    ///< false: it is left as it is
};

/// Block Lanczos in T = float or double; a submatrix for which `most` blocks are not enough is diagonalised in double.
template <class T>
std::unique_ptr<ColumnSolver> make_lanczos(int blocks, const KrylovOptions& options);
/// The same for a submatrix that is stored in another way.
template <class T>
std::unique_ptr<ColumnSolver> make_lanczos(std::unique_ptr<Submatrix<T>> matrix, const KrylovOptions& options);
/// Full diagonalisation (LAPACK) in float64.
std::unique_ptr<ColumnSolver> make_diagonaliser(int blocks);
std::unique_ptr<ColumnSolver> make_diagonaliser(std::unique_ptr<Submatrix<double>> matrix);
/// The generalised eigenproblem of each submatrix of H and S (`overlap`, which must outlive the solver; LAPACK),
/// float64. InputError when a submatrix of S is not positive definite. With a `threshold` its eigenvectors with an
/// eigenvalue up to it are left out.
std::unique_ptr<ColumnSolver> make_local_diagonaliser(int blocks, const ColumnSet& overlap, double threshold = 0.0);
/// Newton-Schulz or third-order Padé iteration of the sign function at this mu; zero temperature.
std::unique_ptr<ColumnSolver> make_sign_iteration(int blocks, bool pade, Precision precision, double mu);

}  // namespace cambium::submatrix
