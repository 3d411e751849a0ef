#include "plugins/submatrix/tasks/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

namespace {

double mev_per_atom(double hartree, const MatrixSystem& system) {
  return 1000.0 * ev_per_hartree * hartree / static_cast<double>(system.atoms);
}

std::string solver_name(const DensityOptions& options) {
  const char* precision = options.precision == Precision::float32    ? "float32"
                          : options.precision == Precision::bfloat16 ? "bfloat16 factors, float32 sums"
                                                                     : "float64";
  switch (options.solver) {
    case SolverKind::diagonalise:
      return "diagonalisation, float64";
    case SolverKind::newton_schulz:
      return fmt::format("Newton-Schulz iteration, {}", precision);
    case SolverKind::pade:
      return fmt::format("third-order Pade iteration, {}", precision);
    default:
      return fmt::format("block Lanczos, {}", precision);
  }
}

std::string gap_text(const DensityResult& result, const DensityOptions& options) {
  if (shows_no_states(options.solver))
    return "whether in a gap is not known: this solver shows no states (solver: lanczos does)";
  const double gap = result.gap_high - result.gap_low;
  return fmt::format("between states at {:.6f} and {:.6f} (gap {:.4f} hartree, {:.3f} eV)", result.gap_low,
                     result.gap_high, gap, gap * ev_per_hartree);
}

void warn(const MatrixSystem& system, const DensityOptions& options, const DensityResult& result, Log& log) {
  const double gap = result.gap_high - result.gap_low;
  if (options.kt <= 0.0 && gap < 0.01)
    log.warn(
        fmt::format("mu = {:.6f} hartree is in no gap: half an electron on either side is within {:.4f} hartree "
                    "({:.6f} to {:.6f}); metals need an electronic temperature (temperature: 1000 K)",
                    result.mu, gap, result.gap_low, result.gap_high));
  warn_of_accuracy(options, result, log);
  if (system.copies == 1 && warn_of_odd_count(options, result.electrons, log)) return;
  if (options.electrons <= 0.0 || warn_of_count(options, result.electrons, system.bonds != nullptr, log)) return;
  const double per_block = std::abs(result.electrons - options.electrons) / system.layout->blocks();
  if (per_block > 1e-2 && system.bonds)
    log.warn(
        fmt::format("the number of electrons is off by {:+.4g}, more than 0.01 per block: the localisation_radius of "
                    "matrices.tight_binding is too short{}",
                    result.electrons - options.electrons, options.mu ? ", or mu is that of another charge" : ""));
  else if (per_block > 1e-2)
    log.warn(fmt::format(
        "the number of electrons is off by {:+.4g}, more than 0.01 per block: eps_filter = {:g} is too large{}",
        result.electrons - options.electrons, options.eps, options.mu ? ", or mu is that of another charge" : ""));
}

/// Accuracy of the model, and columns to inspect.
void add_prediction(const PredictionReport& p, double mu, Log& log, std::vector<std::string>& out) {
  out.push_back(fmt::format(
      "prediction       levels {:.6f} and {:.6f} hartree, their middle {:+.4f} eV from mu; {} evaluations of N(mu), {} "
      "without it",
      p.homo, p.lumo, ev_per_hartree * (0.5 * (p.homo + p.lumo) - mu), p.evaluations, p.evaluations_without));
  out.push_back(
      fmt::format("                 band energies of block columns {:.4f} eV from theirs (root mean square); {} "
                  "further than {:.4f} eV",
                  ev_per_hartree * p.energy_difference, p.suspects.size(), ev_per_hartree * p.tolerance));
  constexpr std::size_t shown = 10;
  std::string names;
  for (std::size_t k = 0; k < std::min(shown, p.suspects.size()); ++k) {
    const auto& c = p.suspects[k];
    names += fmt::format("{}{} ({:+.3f} eV)", k == 0 ? "" : ", ", c.column, ev_per_hartree * (c.energy - c.predicted));
  }
  if (p.suspects.empty()) return;
  log.warn(
      fmt::format("{} block column{} not what the model expects: {}{}; either {} unlike what it was trained on, or the "
                  "evaluation went wrong there",
                  p.suspects.size(), p.suspects.size() == 1 ? " is" : "s are", names,
                  p.suspects.size() > shown ? ", ..." : "", p.suspects.size() == 1 ? "it is" : "they are"));
}

}  // namespace

void add_reference(const MatrixSystem& system, const DensityOptions& options, const DensityResult& result,
                   std::vector<std::string>& out) {
  if (!system.reference.band_energy || options.kt > 0.0) return;
  const double error = result.energy - *system.reference.band_energy;
  const double defect = options.electrons > 0.0 ? result.electrons - options.electrons : 0.0;
  out.push_back(fmt::format(
      "reference        {:.8f} hartree in the file; E differs by {:+.3g} meV/atom, E - mu N by {:+.3g} meV/atom",
      *system.reference.band_energy, mev_per_atom(error, system), mev_per_atom(error - result.mu * defect, system)));
}

std::vector<std::string> describe_system(const MatrixSystem& system, const DensityOptions& options, const Comm& comm) {
  std::vector<std::string> out;
  out.push_back(fmt::format("matrices {}: {} atoms, {} blocks, {} functions, {} electrons", system.name, system.atoms,
                            system.layout->blocks() / system.points(), system.functions(), options.electrons));
  if (!system.k_points.empty())
    out.push_back(fmt::format("  {} k-points (of k and -k one), together {} copies of the cell's states",
                              system.k_points.size(), system.copies));
  else if (system.complex)
    out.push_back("  complex Hermitian matrices, kept as real ones of twice the size");
  for (const auto& note : system.notes) out.push_back("  " + note);
  out.push_back(
      fmt::format("  H: {} blocks, S: {} blocks, {:.1f} MiB on the ranks together",
                  comm.sum(system.hamiltonian.blocks()), comm.sum(system.overlap.blocks()),
                  static_cast<double>(comm.sum(system.hamiltonian.bytes() + system.overlap.bytes())) / 1048576.0));
  if (const double held = comm.max(static_cast<double>(system.reading_bytes)); held > 0.0)
    out.push_back(
        fmt::format("  each rank read a part of the files, and held at most {:.1f} MiB of elements while "
                    "they were sent to their owners",
                    held / 1048576.0));
  if (options.purification) {
    out.push_back(fmt::format("purification, {}, threshold {:g}, {} electrons",
                              polynomial_name(options.purification->polynomial), options.purification->threshold,
                              options.electrons));
    out.push_back("one density matrix for the given Hamiltonian: no self-consistency");
    return out;
  }
  out.push_back(fmt::format(
      "submatrix method, {}, {}, {}", solver_name(options),
      system.bonds ? std::string("submatrices by reach, cut bonds saturated")
      : options.form == Form::local
          ? fmt::format("eps {:g} hartree, submatrices of H and S as they are", options.eps)
          : fmt::format("eps {:g} hartree, S^-1/2 with eps {:g}", options.eps, options.eps_overlap),
      options.mu ? fmt::format("mu {:.6f} hartree", *options.mu) : fmt::format("{} electrons", options.electrons)));
  out.push_back("one density matrix for the given Hamiltonian: no self-consistency");
  return out;
}

std::vector<std::string> describe_error(const MatrixSystem& system, const DensityOptions& options,
                                        const DensityResult& result) {
  const auto& e = result.error;
  const double unit = 1000.0 * ev_per_hartree, atoms = static_cast<double>(system.atoms);
  // The part missing in E - mu N at this mu is missing in E too, where the number of electrons is known and mu is in
  // its gap.
  const bool canonical = options.electrons > 0.0 && std::abs(result.electrons - options.electrons) <= 0.5;
  const double defect = canonical ? result.mu * (result.electrons - options.electrons) / atoms : 0.0;
  const char *energy = options.kt > 0.0 ? "E - T S" : "E", *grand = options.kt > 0.0 ? "E - T S - mu N" : "E - mu N";
  std::vector<std::string> out;
  out.push_back(
      fmt::format("error estimate   {}{} {:+.3g}{} +- {:.2g} meV/atom (95 %)",
                  canonical ? fmt::format("{} is off by {:+.3g}, ", energy, unit * (defect - e.energy_change)) : "",
                  grand, -unit * e.energy_change, canonical ? ", each" : "", unit * e.margin));
  out.push_back(fmt::format(
      "                 from {} submatrices {} solved again with everything tightened{}; {:.2g} of the work of all; "
      "idempotency {:.1e} per column",
      e.submatrices, e.complete ? "(all)" : fmt::format("of {} drawn at random,", result.columns.submatrices),
      e.alike ? "; all are equal, which is no evidence for the others" : "", e.cost, e.idempotency));
  return out;
}

std::vector<std::string> describe_result(const MatrixSystem& system, const DensityOptions& options,
                                         const DensityResult& result, Context& context) {
  warn(system, options, result, context.log);
  std::vector<std::string> out;
  const auto& e = result.error;
  out.push_back(fmt::format("band energy      {:.10f} hartree, {:.8f} eV/atom", result.energy,
                            result.energy * ev_per_hartree / static_cast<double>(system.atoms)));
  if (options.kt > 0.0)
    out.push_back(fmt::format("free energy      {:.10f} hartree (- T S of the electrons: {:.6g})",
                              result.energy + result.entropy_term, result.entropy_term));
  out.push_back(fmt::format(
      "electrons        {:.8f}{}", result.electrons,
      options.electrons > 0.0 ? fmt::format(", off by {:+.3e}", result.electrons - options.electrons) : ""));
  out.push_back(fmt::format("mu               {:.8f} hartree ({}), {}", result.fermi_level,
                            options.mu ? "given" : "found", gap_text(result, options)));
  if (e.submatrices > 0)
    for (const auto& line : describe_error(system, options, result)) out.push_back(line);
  if (result.prediction) add_prediction(*result.prediction, result.mu, context.log, out);
  add_reference(system, options, result, out);
  const auto& c = result.columns;
  out.push_back(fmt::format(
      "submatrices      {} of mean dimension {:.0f} ({} to {}){}", c.submatrices, c.mean_dimension,
      c.smallest_dimension, c.largest_dimension,
      options.solver != SolverKind::diagonalise
          ? fmt::format(", {:.1f} {}, residual at most {:.1e}", c.mean_steps,
                        options.solver == SolverKind::lanczos ? "Krylov blocks" : "iterations", c.worst_residual)
          : ""));
  if (c.widened > 0)
    out.push_back(
        fmt::format("                 {} block columns of H end before the density matrix does: theirs have the rows "
                    "to which it reaches",
                    c.widened));
  if (options.groups.by != GroupBy::none)
    out.push_back(fmt::format("groups           {}; {:.2f} block columns each, predicted cost {:.3f} of single columns",
                              result.groups.by == "none" ? "single columns are cheapest" : "by " + result.groups.by,
                              static_cast<double>(system.layout->blocks()) / c.submatrices, result.groups.predicted));
  if (!options.orthogonal && options.form != Form::local)
    out.push_back(fmt::format(
        "S^-1/2           submatrices of mean dimension {:.0f}, {:.1f} Krylov blocks; smallest eigenvalue met {:.4g}",
        result.root_dimension, result.root_steps, result.smallest_overlap));
  if (options.overlap_threshold > 0.0 && options.form != Form::local)
    out.push_back(fmt::format("                 {:.4f} of {} functions left out, which have eigenvalues up to {:g}",
                              result.left_out / system.copies, system.functions(), options.overlap_threshold));
  if (c.evaluated_twice > 0)
    out.push_back(fmt::format("                 {} columns evaluated twice (mu was predicted at {} electrons' place)",
                              c.evaluated_twice, options.electrons));
  out.push_back(fmt::format("work             {:.3g} GFLOP, {:.2f} MiB received from other ranks",
                            1e-9 * context.comm.sum(result.flops),
                            static_cast<double>(context.comm.sum(result.bytes)) / 1048576.0));
  return out;
}

std::vector<Result> results_of(const MatrixSystem& system, const DensityOptions& options, const DensityResult& result) {
  std::vector<Result> out;
  const auto add = [&](const char* key, const char* label, double value, const char* unit) {
    out.push_back(in_table(key, label, value));
    out.back().unit = unit;
  };
  add("band_energy", "band energy", result.energy, "hartree");
  if (options.kt > 0.0) add("free_energy", "free energy", result.energy + result.entropy_term, "hartree");
  add("electrons", "electrons", result.electrons, "");
  add("mu", "chemical potential", result.fermi_level, "hartree");
  if (!shows_no_states(options.solver)) add("gap", "gap", result.gap_high - result.gap_low, "hartree");
  if (const auto& p = result.purification) {
    add("iterations", "iterations", p->iterations, "");
    add("products", "products of sparse matrices", p->products, "");
    add("idempotency", "idempotency error |D D - D|_F per block column", p->idempotency, "");
    add("mean_blocks", "blocks of a column of the fullest iterate", p->mean_blocks, "");
  } else {
    add("mean_dimension", "mean dimension of a submatrix", result.columns.mean_dimension, "");
  }
  const double unit = 1000.0 * ev_per_hartree;
  if (result.error.submatrices > 0) {
    add("error_estimate", "error estimate of E - mu N", -unit * result.error.energy_change, "meV/atom");
    add("error_margin", "margin of the error estimate, 95 %", unit * result.error.margin, "meV/atom");
  }
  if (system.reference.band_energy && options.kt <= 0.0)
    add("error", "E less the reference in the file",
        mev_per_atom(result.energy - *system.reference.band_energy, system), "meV/atom");
  return out;
}

std::vector<Citation> citations() {
  return {{"Lass2018",
           "@inproceedings{Lass2018, author={Lass, M. and Mohr, S. and Wiebeler, H. and K{\\\"u}hne, T. D. and Plessl, "
           "C.}, title={A massively parallel "
           "algorithm for the approximate calculation of inverse p-th roots of large sparse matrices}, booktitle={PASC "
           "'18}, year={2018}, "
           "doi={10.1145/3218176.3218231}}"},
          {"Lass2020",
           "@inproceedings{Lass2020, author={Lass, M. and Schade, R. and K{\\\"u}hne, T. D. and Plessl, C.}, title={A "
           "submatrix-based method for "
           "approximate matrix function evaluation in the quantum chemistry code CP2K}, booktitle={SC20}, year={2020}, "
           "doi={10.1109/SC41405.2020.00084}}"},
          {"GolubMeurant2010",
           "@book{GolubMeurant2010, author={Golub, G. H. and Meurant, G.}, title={Matrices, Moments and Quadrature "
           "with Applications}, "
           "publisher={Princeton University Press}, year={2010}}"}};
}

}  // namespace cambium::submatrix
