#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "plugins/submatrix/blocks/grouping.hpp"
#include "plugins/submatrix/columns/column_solver.hpp"
#include "plugins/submatrix/columns/level_prediction.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// Treatment of the overlap: H is orthogonalised globally, S^-1/2 H S^-1/2, or each submatrix of H and S is solved as a
/// generalised eigenproblem.
enum class Form { orthogonal, local };

struct RootResult;

/// Polynomial of one step of density-matrix purification: trace resetting of the fourth order (A. M. N. Niklasson, C.
/// J. Tymczak and M. Challacombe, J. Chem. Phys. 118, 8611 (2003)) or canonical (A. H. R. Palser and D. E.
/// Manolopoulos, Phys. Rev. B 58, 12704 (1998)).
enum class Polynomial { trs4, canonical };

struct PurificationOptions {
  Polynomial polynomial = Polynomial::trs4;
  double threshold = 1e-5;  ///< blocks of an iterate with a smaller Frobenius norm are dropped
  int most = 100;           ///< iterations
};

struct DensityOptions {
  double eps = 1e-5;  ///< blocks of the orthogonalised Hamiltonian with a smaller Frobenius norm are dropped (Hartree)
  double eps_overlap = 1e-5;  ///< the same for S in S^-1/2
  /// Canonical orthogonalisation: combinations of functions that are eigenvectors of (submatrices of) S with an
  /// eigenvalue up to this are left out of the basis. 0: none, and a nearly singular S is refused.
  double overlap_threshold = 0.0;
  double prune = 1e-4;  ///< products of blocks below prune * eps are left out of block-sparse products
  SolverKind solver = SolverKind::lanczos;
  Precision precision = Precision::float64;
  double krylov_tolerance = 0.0;  ///< 0: taken from eps
  bool orthogonal = false;        ///< S is the identity
  Form form =
      Form::orthogonal;  ///< local: eps is the norm below which blocks of both H and S are outside, solver diagonalise
  GroupOptions groups;   ///< block columns with a common submatrix
  double kt = 0.0;       ///< electronic temperature (Hartree)
  std::optional<double> mu;      ///< Hartree; canonical without
  double electrons = 0.0;        ///< canonical: wanted number
  int sample = 8;                ///< submatrices on which errors are estimated, drawn at random; 0: no estimate
  bool energy_weighted = false;  ///< also W
  /// Solver of the caller's own instead of the one named by `solver`; may be empty.
  std::function<std::unique_ptr<ColumnSolver>(const KrylovOptions&)> make_solver;
  std::optional<double> mu_guess;  ///< Hartree; where to solve first, instead of sampling a few columns
  /// Without mu: well inside the gap that all columns show, whose number of electrons is only about the wanted one:
  /// truncation brings charge.
  bool mid_gap = false;
  std::shared_ptr<const RootResult> root;  ///< S^-1/2 from an earlier step with the same overlap; may be empty
  std::shared_ptr<const LevelPredictor>
      predictor;  ///< starts the search for mu; only without groups, in the orthogonal form
  std::optional<PurificationOptions> purification;                 ///< instead of submatrices of H'
  std::function<void(double done, double seconds_left)> progress;  ///< of the block columns of rank 0; may be empty
};

/// Estimates of the run's own errors.
struct ErrorEstimate {
  double electron_defect = 0.0;  ///< N - wanted number (canonical)
  double idempotency = 0.0;      ///< |D D - D|_F of the sampled block columns (orthogonal basis), per column
  /// Truncation error, per atom (Hartree): the exact E - T S - mu N at this mu minus the computed one is within
  /// `margin` of `energy_change` in 95 of 100 cases. Both spins, as E.
  double energy_change = 0.0;
  double margin = 0.0;
  double sampling = 0.0;         ///< the part of the margin that comes from having drawn only some submatrices
  double electron_change = 0.0;  ///< of N at this mu, per atom
  double by_eps = 0.0;           ///< size of the change by eps / 10, per atom
  double beyond = 0.0;    ///< size of the change by rows to which D reaches and where no eps finds blocks, per atom
  int grown = 0;          ///< drawn submatrices to which such rows belong
  int submatrices = 0;    ///< drawn
  bool complete = false;  ///< all of them were
  bool alike = false;     ///< all that were drawn gave the same
  double cost = 0.0;      ///< operations of the estimate over those of all submatrices of the run
};

/// For the submatrices.
struct ColumnStatistics {
  double mean_dimension = 0.0, mean_steps = 0.0;
  int smallest_dimension = 0, largest_dimension = 0;
  double worst_residual = 0.0;
  int evaluated_twice = 0;  ///< block columns whose occupation changed between the predicted and the final mu
  int submatrices = 0;      ///< of all ranks
  int diagonalised = 0,
      largest_diagonalised =
          0;  ///< submatrices for which the Krylov blocks of `lanczos` were not enough, and the rows of the largest
  int widened =
      0;  ///< block columns of H that end before D does and whose submatrices have the rows to which it reaches
  int at_limit = 0;      ///< of these, those for which that would be more functions than a submatrix may have
  double dropped = 0.0;  ///< hartree: of the blocks below eps of one block column the root of the sum of their squared
                         ///< norms, the largest of all columns
};

/// Outcome of the choice of groups.
struct GroupReport {
  std::string by = "none";  ///< none, space or graph
  double predicted = 1.0;   ///< cost over that of single columns, by the cost model
};

/// How purification went.
struct PurificationReport {
  int iterations = 0, products = 0;  ///< products: of two sparse matrices
  double idempotency = 0.0;          ///< |X X - X|_F of the result, per block column
  bool converged = false;            ///< the error reached the one that truncation leaves
  double mean_blocks = 0.0;          ///< of a block column of the fullest iterate
  int largest_blocks = 0;            ///< of any block column of it
};

struct DensityResult {
  explicit DensityResult(std::shared_ptr<const BlockLayout> layout) : density(std::move(layout)) {}

  double energy = 0.0;     ///< band energy 2 Tr(D H), Hartree
  double electrons = 0.0;  ///< 2 Tr(D S)
  std::array<double, 2> channel_energy{}, channel_electrons{},
      channel_entropy{};      ///< contributions of the channels of the system
  double entropy_term = 0.0;  ///< -T S of the electrons, Hartree (0 for kt = 0)
  double mu = 0.0;            ///< of the occupations
  double fermi_level = 0.0;   ///< mu as reported: in a gap wide against kT free of truncation, else the same
  /// States around mu that hold at least half an electron; NaN if the solver shows_no_states().
  double gap_low = 0.0, gap_high = 0.0;
  BlockColumns density;  ///< D without the factor 2, own columns
  std::optional<BlockColumns> energy_weighted;
  std::vector<int> dimensions;  ///< of the submatrices of own columns
  GroupReport groups;
  std::optional<PredictionReport> prediction;
  std::optional<PurificationReport> purification;
  ColumnStatistics columns;
  double root_dimension = 0.0, root_steps = 0.0, smallest_overlap = 1.0;
  double left_out = 0.0;  ///< functions by `overlap_threshold`: the trace of the projector on them
  ErrorEstimate error;
  std::int64_t bytes = 0;     ///< received by this rank
  double flops = 0.0;         ///< of this rank
  double column_flops = 0.0;  ///< the part of them that went into the submatrices of the step "columns"
};

}  // namespace cambium::submatrix
