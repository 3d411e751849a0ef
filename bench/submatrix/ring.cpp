#include "bench/submatrix/ring.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "bench/submatrix/measure.hpp"
#include "plugins/submatrix/matrices/ring.hpp"

namespace cambium::submatrix {

namespace {

double peak_megabytes(const Comm& comm) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return comm.max(static_cast<double>(usage.ru_maxrss) / 1024.0);
}

DensityOptions options_of(const BenchOptions& options, const MatrixSystem& system) {
  const std::string& method = options.text("method");
  DensityOptions out;
  out.eps = out.eps_overlap = options.number("eps");
  out.electrons = system.electrons;
  out.orthogonal = true;
  out.sample = options.integer("error_sample");
  if (method == "trs4" || method == "canonical") {
    out.sample = 0;
    out.purification = PurificationOptions{.polynomial = method == "trs4" ? Polynomial::trs4 : Polynomial::canonical,
                                           .threshold = out.eps};
  } else {
    out.solver = method == "lanczos" ? SolverKind::lanczos : SolverKind::diagonalise;
    if (method == "lanczos" && options.text("precision") == "float32") out.precision = Precision::float32;
  }
  return out;
}

nlohmann::json row_of(const MatrixSystem& system, const DensityResult& result, double seconds, const Comm& comm) {
  const double unit = 1000.0 * ev_per_hartree / static_cast<double>(system.atoms),
               off = result.electrons - system.electrons, error = result.energy - *system.reference.band_energy,
               middle = 0.5 * (*system.reference.homo + *system.reference.lumo);
  constexpr double mebi = 1048576.0;
  nlohmann::json out{{"seconds", seconds},
                     {"error_mev_per_atom", unit * error},
                     {"grand_error_mev_per_atom", unit * (error - middle * off)},
                     {"electrons_off", off},
                     {"idempotency", result.error.idempotency},
                     {"gflop", 1e-9 * comm.sum(result.flops)},
                     {"received_mib", static_cast<double>(comm.sum(result.bytes)) / mebi},
                     {"hamiltonian_mib_of_fullest_rank",
                      comm.max(static_cast<double>(system.hamiltonian.bytes() + system.overlap.bytes())) / mebi},
                     {"density_mib_of_fullest_rank", comm.max(static_cast<double>(result.density.bytes())) / mebi},
                     // Sizes and offsets of the blocks, which every rank has.
                     {"layout_mib_of_each_rank", 12.0 * system.layout->blocks() / mebi},
                     {"peak_mib_of_fullest_rank", peak_megabytes(comm)}};
  if (const auto& p = result.purification) {
    out["iterations"] = p->iterations;
    out["products"] = p->products;
    out["mean_blocks"] = p->mean_blocks;
  } else {
    out["mean_dimension"] = result.columns.mean_dimension;
    out["stated_mev_per_atom"] = -1000.0 * ev_per_hartree * result.error.energy_change;
    out["margin_mev_per_atom"] = 1000.0 * ev_per_hartree * result.error.margin;
  }
  return out;
}

nlohmann::json measure_ring(const BenchOptions& options, Context& context) {
  const Comm& comm = context.comm;
  const RingInput input{.atoms = options.integer("atoms"),
                        .functions = options.integer("functions"),
                        .gap = options.number("gap"),
                        .range = options.number("range")};
  const double began = wall_seconds();
  const MatrixSystem system = ring_matrices(input, 1, comm);
  const double making = comm.max(wall_seconds() - began);
  const DensityOptions density = options_of(options, system);
  nlohmann::json out;
  for (int k = 0; k < options.integer("repeat"); ++k) {
    comm.barrier();
    const double started = wall_seconds();
    const DensityResult result = density_matrix(system, density, context);
    const double seconds = comm.max(wall_seconds() - started);
    nlohmann::json row = row_of(system, result, seconds, comm);
    if (out.empty() || seconds < out["seconds"].get<double>()) out = row;
  }
  const double error = out["error_mev_per_atom"], off = out["electrons_off"];
  context.log.info(fmt::format(
      "{} atoms, {}: {:.3f} s, E {:+.3g} meV/atom, {:.3g} GFLOP; H {:.1f} and D {:.1f} MiB of the fullest rank, peak "
      "{:.0f} MiB",
      input.atoms, options.text("method"), out["seconds"].get<double>(), error, out["gflop"].get<double>(),
      out["hamiltonian_mib_of_fullest_rank"].get<double>(), out["density_mib_of_fullest_rank"].get<double>(),
      out["peak_mib_of_fullest_rank"].get<double>()));
  out["seconds_to_make_matrices"] = making;
  out["atoms"] = input.atoms;
  out["functions"] = input.functions;
  out["gap"] = input.gap;
  out["method"] = options.text("method");
  out["eps"] = density.eps;
  out["ranks"] = comm.size();
  out["check"] =
      fmt::format("{}: E differs from the exact one by {:+.1e} meV/atom, N by {:+.1e}",
                  std::abs(error) < 10.0 && std::abs(off) < 0.01 * system.electrons ? "ok" : "WRONG", error, off);
  return out;
}

}  // namespace

Bench bench_ring() {
  return {"submatrix_ring",
          "seconds, operations, memory of a rank and true error of the density matrix of a ring of atoms",
          measure_ring,
          {{"atoms", "number of atoms", 10000},
           {"functions", "of each atom", 4},
           {"gap", "hartree", 0.2},
           {"range", "decay length of couplings in units of two bonds", 1.0},
           {"method",
            "solver of submatrices, or polynomial of purification",
            "lanczos",
            {"lanczos", "diagonalise", "trs4", "canonical"}},
           {"precision", "of lanczos", "float64", {"float64", "float32"}},
           {"eps", "hartree; threshold of purification", 1e-5},
           {"error_sample", "submatrices solved again to estimate the error", 0},
           {"repeat", "runs, of which the fastest counts", 1}},
          {"atoms=2000"}};
}

}  // namespace cambium::submatrix
