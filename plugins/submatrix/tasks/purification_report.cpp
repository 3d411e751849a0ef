// The page of a purification.
#include <fmt/format.h>

#include <cmath>

#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

std::string polynomial_name(Polynomial polynomial) {
  return polynomial == Polynomial::trs4 ? "trace resetting of the fourth order" : "canonical (Palser and Manolopoulos)";
}

void warn_of_purification(const DensityOptions& options, const DensityResult& result, Log& log) {
  const PurificationReport& p = *result.purification;
  if (!p.converged)
    log.warn(
        fmt::format("purification ended after {} iterations at an idempotency error of {:.1e} per block column: "
                    "there is no gap at {} electrons; write method: submatrix with a temperature (temperature: "
                    "1000 K)",
                    p.iterations, p.idempotency, options.electrons));
  const double off = result.electrons - options.electrons;
  if (std::abs(off) > 0.5)
    log.warn(
        fmt::format("the number of electrons is off by {:+.4g} after purification; choose a smaller threshold than "
                    "{:g}{}",
                    off, options.purification->threshold,
                    options.purification->polynomial == Polynomial::canonical
                        ? ", or polynomial: trs4, which corrects it in every iteration"
                        : ""));
}

std::vector<std::string> describe_purification(const MatrixSystem& system, const DensityOptions& options,
                                               const DensityResult& result, Context& context) {
  warn_of_purification(options, result, context.log);
  const PurificationReport& p = *result.purification;
  std::vector<std::string> out;
  out.push_back(fmt::format("band energy      {:.10f} hartree, {:.8f} eV/atom", result.energy,
                            result.energy * ev_per_hartree / static_cast<double>(system.atoms)));
  out.push_back(
      fmt::format("electrons        {:.8f}, off by {:+.3e}", result.electrons, result.electrons - options.electrons));
  out.push_back(fmt::format("mu               {:.8f} hartree; gap at least {:.4f} hartree", result.mu,
                            result.gap_high - result.gap_low));
  add_reference(system, options, result, out);
  out.push_back(
      fmt::format("purification     {} iterations, {} products of sparse matrices, idempotency error {:.1e} per "
                  "block column",
                  p.iterations, p.products, p.idempotency));
  out.push_back(fmt::format("fullest iterate  {:.1f} blocks in a column, at most {}, of {}", p.mean_blocks,
                            p.largest_blocks, system.layout->blocks()));
  if (!options.orthogonal)
    out.push_back(fmt::format(
        "S^-1/2           submatrices of mean dimension {:.0f}, {:.1f} Krylov blocks; smallest eigenvalue met {:.4g}",
        result.root_dimension, result.root_steps, result.smallest_overlap));
  out.push_back(fmt::format("work             {:.3g} GFLOP, {:.2f} MiB received from other ranks",
                            1e-9 * context.comm.sum(result.flops),
                            static_cast<double>(context.comm.sum(result.bytes)) / 1048576.0));
  return out;
}

std::vector<Citation> purification_citations() {
  return {
      {"Niklasson2003",
       "@article{Niklasson2003, author={Niklasson, A. M. N. and Tymczak, C. J. and Challacombe, M.}, title={Trace "
       "resetting density matrix purification in O(N) self-consistent-field theory}, journal={The Journal of "
       "Chemical Physics}, volume={118}, pages={8611}, year={2003}, doi={10.1063/1.1559913}}"},
      {"Palser1998",
       "@article{Palser1998, author={Palser, A. H. R. and Manolopoulos, D. E.}, title={Canonical purification of the "
       "density matrix in electronic-structure theory}, journal={Physical Review B}, volume={58}, pages={12704}, "
       "year={1998}, doi={10.1103/PhysRevB.58.12704}}"}};
}

}  // namespace cambium::submatrix
