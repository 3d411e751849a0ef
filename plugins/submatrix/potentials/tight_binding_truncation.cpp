// Submatrices of a TightBinding: which atoms they hold, and the density matrix from them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/submatrix/density/dense_density.hpp"
#include "plugins/submatrix/density/gap_check.hpp"
#include "plugins/submatrix/potentials/tight_binding.hpp"

namespace cambium::submatrix {

namespace {

constexpr double skin_of_eps =
    0.5;  ///< bond orders down to this fraction of eps belong to a submatrix: they may grow until the next choice
constexpr int first_hops = 4, more_hops = 2;
constexpr int most_krylov_blocks = 300;

/// Union of two ascending lists.
std::vector<int> together(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace

DensityOptions TightBinding::density_options(double tolerance) const {
  DensityOptions options;
  options.orthogonal = true;
  options.eps = 0.0;  // the pattern of the Hamiltonian is that of the regions
  options.solver = params_.solver;
  options.krylov_tolerance = tolerance;
  options.kt = constants::boltzmann * params_.temperature;
  options.electrons = static_cast<double>(electrons_per_atom) * atoms_->count();
  options.sample = 0;
  if (!truncated()) return options;
  options.mid_gap =
      params_.temperature <= 0.0;  // cut bonds carry a little charge, by which a count of electrons would miss the gap
  options.mu_guess = guess_;
  options.make_solver = [this](KrylovOptions krylov) {
    krylov.most = most_krylov_blocks;
    krylov.step = 4;
    krylov.first = std::max(krylov.first, krylov_blocks_);
    return params_.solver == SolverKind::diagonalise ? make_saturated_diagonaliser(graph_)
                                                     : make_saturated_lanczos(graph_, krylov);
  };
  return options;
}

/// Chooses the atoms of every submatrix, unless the last choice still holds.
void TightBinding::choose_regions(Context& context) {
  if (chosen_.hold(*atoms_, params_.skin, context.comm)) {
    region_ = chosen_.lists(*atoms_, context.comm);
    graph_ = chosen_.bonds(*atoms_);
    return;
  }
  chosen_.connect(*atoms_, longest_bond * model_->r0);
  graph_ = chosen_.bonds(*atoms_);
  mu_.reset();
  krylov_blocks_ = 0;
  region_ = params_.reach > 0.0 ? Regions::within(*atoms_, context.comm, params_.reach + params_.skin)
                                : by_bond_order(context);
  chosen_.keep(*atoms_, context.comm, region_);
  ++choices_;
}

/// Bond orders are taken from submatrices that go two bonds beyond every atom that is to be kept; they grow until that
/// is so.
Regions::Lists TightBinding::by_bond_order(Context& context) {
  const Regions::Lists near = Regions::within(*atoms_, context.comm, model_->cutoff + params_.skin);
  region_ = chosen_.lists(*atoms_, context.comm);
  for (std::size_t i = 0; i < region_.size(); ++i)
    region_[i] = Regions::grown(graph_, together(region_[i], near[i]), chosen_.empty() ? first_hops : more_hops);
  const int first = atoms_->ranges.begin(context.comm.rank());
  for (;;) {
    const DensityResult trial = density_matrix(
        hamiltonian(), density_options(std::max(params_.krylov_tolerance, 0.03 * std::sqrt(params_.eps))), context);
    if (params_.temperature <= 0.0) guess_ = 0.5 * (trial.gap_low + trial.gap_high);
    Regions::Lists kept(region_.size());
    double grew = 0.0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const BlockColumn column = trial.density.column(first + static_cast<int>(i));
      for (std::size_t e = 0; e < column.rows.size(); ++e)
        if (4.0 * column.norms[e] * column.norms[e] >= skin_of_eps * params_.eps) kept[i].push_back(column.rows[e]);
      kept[i] = together(kept[i], near[i]);
      auto wider = together(region_[i], Regions::grown(graph_, kept[i], more_hops));
      grew += wider.size() > region_[i].size() ? 1.0 : 0.0;
      region_[i] = std::move(wider);
    }
    if (context.comm.max(grew) == 0.0) return kept;
  }
}

void TightBinding::solve(Context& context) {
  const MatrixSystem system = hamiltonian();
  DensityOptions options = density_options(params_.krylov_tolerance);
  if (near_band_) mu_.reset();
  options.mu = mu_;
  last_.emplace(truncated() ? density_matrix(system, options, context) : dense_density(system, options, context.comm));
  krylov_blocks_ =
      static_cast<int>(last_->columns.mean_steps);  // looking whether it has converged costs a diagonalisation
  if (last_->columns.diagonalised > 0)
    context.log.warn(
        fmt::format("submatrices that had not converged after {} Krylov blocks were diagonalised, which takes longer: "
                    "states lie near mu, or krylov_tolerance is too small",
                    most_krylov_blocks));
  if (!options.mid_gap) return;
  require_gap(*last_, options, context.log);
  const double gap = last_->gap_high - last_->gap_low;
  guess_ = 0.5 * (last_->gap_low + last_->gap_high);
  if (!mu_) {
    mu_ = guess_;
    gap_ = gap;
  }
  near_band_ = gap < 0.5 * gap_;  // the next step looks for another
}

}  // namespace cambium::submatrix
