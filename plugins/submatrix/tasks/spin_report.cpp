#include <fmt/format.h>

#include <cmath>

#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

namespace {

void warn(const MatrixSystem& system, const DensityOptions& options, const SpinDensity& spins, Log& log) {
  for (std::size_t s = 0; s < (spins.together ? 1 : 2); ++s) {
    const DensityResult& r = spins.channel[s];
    if (r.purification) {
      DensityOptions own = options;  // of a channel the electrons of its own
      if (!spins.together) own.electrons = std::round(r.electrons);
      warn_of_purification(own, r, log);
      continue;
    }
    if (options.kt <= 0.0 && r.gap_high - r.gap_low < 0.01)
      log.warn(
          fmt::format("mu = {:.6f} hartree{} is in no gap: half an electron on either side is within {:.4f} hartree; "
                      "metals need an electronic temperature (temperature: 1000 K)",
                      r.mu,
                      spins.together ? ""
                      : s == 0       ? " of spin up"
                                     : " of spin down",
                      r.gap_high - r.gap_low));
    warn_of_accuracy(options, r, log);
  }
  if (warn_of_count(options, spins.electrons(), false, log)) return;
  const double defect = options.electrons > 0.0 ? spins.electrons() - options.electrons : 0.0;
  if (std::abs(defect) / system.layout->blocks() > 1e-2)
    log.warn(fmt::format(
        "the number of electrons of both spins is off by {:+.4g}, more than 0.01 per block: eps_filter = {:g} is "
        "too large, or mu is that of another charge",
        defect, options.eps));
}

std::string solver_steps(const DensityOptions& options, const ColumnStatistics& c) {
  if (options.solver == SolverKind::diagonalise) return "";
  return fmt::format(", {:.1f} {}, residual at most {:.1e}", c.mean_steps,
                     options.solver == SolverKind::lanczos ? "Krylov blocks" : "iterations", c.worst_residual);
}

}  // namespace

std::vector<Result> results_of(const SpinDensity& spins) {
  std::vector<Result> out{in_table("band_energy", "band energy, both spins", spins.energy()),
                          in_table("electrons", "electrons", spins.electrons()),
                          in_table("magnetisation", "magnetisation", spins.magnetisation())};
  out[0].unit = "hartree";
  return out;
}

std::vector<std::string> describe_spins(const MatrixSystem& system, const DensityOptions& options,
                                        const SpinDensity& spins, Context& context) {
  warn(system, options, spins, context.log);
  std::vector<std::string> out;
  const double atoms = static_cast<double>(system.atoms), mev = 1000.0 * ev_per_hartree;
  out.push_back(fmt::format("band energy      {:.10f} hartree, {:.8f} eV/atom, both spins", spins.energy(),
                            spins.energy() * ev_per_hartree / atoms));
  if (options.kt > 0.0)
    out.push_back(fmt::format("free energy      {:.10f} hartree (- T S of the electrons: {:.6g})",
                              spins.energy() + spins.entropy_term(), spins.entropy_term()));
  out.push_back(fmt::format(
      "electrons        {:.8f}{}", spins.electrons(),
      options.electrons > 0.0 ? fmt::format(", off by {:+.3e}", spins.electrons() - options.electrons) : ""));
  out.push_back(fmt::format("magnetisation    {:.8f} electrons", spins.magnetisation()));
  for (std::size_t s = 0; s < 2; ++s) {
    const DensityResult& r = spins.channel[s];
    out.push_back(fmt::format("spin {:<5}       {:.8f} electrons, {:.10f} hartree; mu {:.8f} hartree ({}){}",
                              s == 0 ? "up" : "down", r.electrons, r.energy, r.fermi_level,
                              options.mu       ? "given"
                              : spins.together ? "found, the same for both"
                                               : "found",
                              shows_no_states(options.solver) ? std::string()
                              : r.purification
                                  ? fmt::format(", gap at least {:.4f} hartree", r.gap_high - r.gap_low)
                                  : fmt::format(", between states at {:.6f} and {:.6f}", r.gap_low, r.gap_high)));
  }
  for (std::size_t s = 0; s < (spins.together ? 1 : 2); ++s) {
    const auto& r = spins.channel[s];
    const std::string of = spins.together ? "both spins" : s == 0 ? "spin up" : "spin down";
    if (r.error.submatrices > 0)
      out.push_back(fmt::format(
          "error estimate   {}: {} is off by {:+.3g} +- {:.2g} meV/atom (95 %), from {} submatrices{} solved again "
          "with everything tightened; idempotency {:.1e} per column",
          of, options.kt > 0.0 ? "E - T S - mu N" : "E - mu N", -mev * r.error.energy_change, mev * r.error.margin,
          r.error.submatrices, r.error.complete ? " (all)" : " drawn at random and", r.error.idempotency));
    if (r.purification)
      out.push_back(
          fmt::format("purification     {}: {} iterations, {} products of sparse matrices, idempotency error "
                      "{:.1e} per block column",
                      of, r.purification->iterations, r.purification->products, r.purification->idempotency));
    else
      out.push_back(fmt::format("submatrices      {}: {} of mean dimension {:.0f} ({} to {}){}", of,
                                r.columns.submatrices, r.columns.mean_dimension, r.columns.smallest_dimension,
                                r.columns.largest_dimension, solver_steps(options, r.columns)));
    out.push_back(fmt::format("work             {}: {:.3g} GFLOP, {:.2f} MiB received from other ranks", of,
                              1e-9 * context.comm.sum(r.flops),
                              static_cast<double>(context.comm.sum(r.bytes)) / 1048576.0));
  }
  return out;
}

}  // namespace cambium::submatrix
