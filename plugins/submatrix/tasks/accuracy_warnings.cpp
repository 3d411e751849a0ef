// Reasons why a result is less than it seems.
#include <fmt/format.h>

#include <cmath>

#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

namespace {

void warn_of_iterations(const DensityOptions& options, const ColumnStatistics& columns, Log& log) {
  const bool iterates = shows_no_states(options.solver);
  if (!iterates || columns.worst_residual <= 1e-3) return;
  if (options.precision == Precision::bfloat16)
    log.warn(
        fmt::format("bfloat16 factors end the iteration of the sign function at |X^2 - I| = {:.1e} per row, so that "
                    "energies are off by some tens to hundreds of meV/atom; "
                    "choose precision: float32 or float64",
                    columns.worst_residual));
  else
    log.warn(
        fmt::format("the iteration of the sign function ended at |X^2 - I| = {:.1e} per row: a state lies at mu; move "
                    "mu, or choose solver: diagonalise",
                    columns.worst_residual));
}

/// If H ends before D does, most of what is missing is in rows that no eps finds.
void warn_of_reach(const ErrorEstimate& error, Log& log) {
  if (error.grown == 0 || error.beyond <= error.by_eps) return;
  log.warn(
      fmt::format("H ends before the density matrix does: in {} of {} sampled submatrices it reaches rows that they "
                  "lack and that no eps adds, which is {:.2g} meV/atom of E - mu N; give block columns larger "
                  "submatrices (groups: {{by: graph, size: 32}}, then twice that, until the energy stays)",
                  error.grown, error.submatrices, 1000.0 * ev_per_hartree * error.beyond));
}

/// If D hardly decays, rows that it reaches were left out.
void warn_of_limit(const ColumnStatistics& columns, Log& log) {
  if (columns.at_limit == 0) return;
  log.warn(
      fmt::format("in {} of {} block columns D reaches further than the {} functions that a submatrix may have; give "
                  "the electrons a temperature (temperature: 1000 K), or choose a larger eps",
                  columns.at_limit, columns.widened, columns.largest_dimension));
}

}  // namespace

bool warn_of_count(const DensityOptions& options, double electrons, bool bonds, Log& log) {
  const double off = electrons - options.electrons;
  if (options.mu || options.kt > 0.0 || std::abs(off) <= 0.5) return false;
  log.warn(fmt::format(
      "the number of electrons is off by {:+.4g}: the submatrices have no gap at {:.10g} electrons, and mu is in the "
      "one next to it; choose a {}",
      off, options.electrons,
      bonds ? "longer localisation_radius of matrices.tight_binding"
            : fmt::format("smaller eps_filter than {:g}", options.eps)));
  return true;
}

bool warn_of_odd_count(const DensityOptions& options, double electrons, Log& log) {
  constexpr double rounding = 1e-6, least = 1e-2;
  const double off = electrons - options.electrons;
  const bool odd = std::abs(std::abs(std::remainder(options.electrons, 2.0)) - 1.0) < rounding;
  if (options.mu || options.kt > 0.0 || !odd || std::abs(off) <= least) return false;
  log.warn(fmt::format(
      "the number of electrons is off by {:+.4g}: states hold two electrons each, so that no gap has an odd "
      "number, {:.10g}; give the electrons a temperature (temperature: 1000 K), or two spin channels "
      "(hamiltonian_down, or K_down in the file)",
      off, options.electrons));
  return true;
}

void warn_of_accuracy(const DensityOptions& options, const DensityResult& result, Log& log) {
  warn_of_iterations(options, result.columns, log);
  warn_of_reach(result.error, log);
  warn_of_limit(result.columns, log);
  const auto& c = result.columns;
  const double gap = result.gap_high - result.gap_low;
  if (options.kt <= 0.0 && c.dropped > 0.2 * gap)
    log.warn(fmt::format(
        "eps_filter = {:g} hartree drops blocks that amount to {:.2g} hartree in one block column, more than a "
        "fifth of the gap of {:.2g}: energy and density are not "
        "those of the matrices; choose a smaller eps",
        options.eps, c.dropped, gap));
  if (c.diagonalised > 0)
    log.warn(
        fmt::format("{} of {} submatrices, of up to {} rows, had not converged after the last Krylov block and were "
                    "diagonalised: states lie too near to mu, or "
                    "krylov_tolerance is too small; solver: diagonalise leaves out the Krylov blocks",
                    c.diagonalised, c.submatrices, c.largest_diagonalised));
}

}  // namespace cambium::submatrix
