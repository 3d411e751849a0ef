#include "bench/submatrix/bench_submatrix.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>

#include "bench/submatrix/cp2k_peer.hpp"
#include "bench/submatrix/measure.hpp"
#include "bench/submatrix/scaling.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

namespace {

namespace fs = std::filesystem;

/// Error of CP2K's submatrix path at eps_filter 1e-5 on these molecules: total energy of the first step against
/// eps_filter 1e-12, meV/atom. Its error in the band energy, both spins, is 4.4e-3. Not measured in the call: that
/// would take a run at 1e-12 with the same input.
constexpr double cp2k_error_mev = 1.9e-3;

Cp2kCell read_cp2k_cell(const std::string& path) {
  const io::File file = io::File::open(path);
  Cp2kCell out{
      file.read<std::vector<int>>("atomic_numbers"), file.read<std::vector<double>>("coordinates_angstrom"), {}};
  const auto cell = file.read<std::vector<double>>("cell_angstrom");
  for (std::size_t k = 0; k < 3; ++k) out.edge[k] = cell[4 * k];
  return out;
}

void add_peer(nlohmann::json& out, const Cp2kCell& cell, int copies, Context& context) {
  const std::string folder = (fs::temp_directory_path() / fmt::format("cambium-bench-cp2k-{}", ::getpid())).string();
  if (context.comm.root()) fs::create_directories(folder);
  for (const bool submatrix : {true, false}) {
    const std::string key = submatrix ? "submatrix" : "newton_schulz";
    const Cp2kTimes peer = run_cp2k(cell, copies, 1e-5, submatrix, folder, context.comm);
    if (!peer.ran) continue;
    out["seconds_cp2k_" + key] = peer.sign_seconds;
    out["seconds_cp2k_density_" + key] = peer.density_seconds;
    for (const char* solver : {"krylov", "diag"})
      if (out.contains(std::string("seconds_") + solver))
        out[fmt::format("ratio_cp2k_{}{}", key, solver == std::string("krylov") ? "" : "_diag")] =
            peer.sign_seconds / out[std::string("seconds_") + solver].get<double>();
    if (!peer.version.empty()) out["peer"] = peer.version;
    out["energy_cp2k_" + key] = peer.energy;
    for (const char* solver : {"krylov", "diag"})
      for (const char* eps : {"1e-04", "5e-05", "1e-05"})
        if (const std::string at = fmt::format("_{}_iter1_{}", solver, eps); out.contains("seconds" + at))
          out["ratio_cp2k_" + key + at] = peer.sign_seconds / out["seconds" + at].get<double>();
    context.log.info(
        fmt::format("CP2K, eps_filter 1e-5, {}: sign {:.2f} s, density matrix {:.2f} s, total energy {:.9f} hartree",
                    key, peer.sign_seconds, peer.density_seconds, peer.energy));
  }
  if (context.comm.root()) fs::remove_all(folder);
}

/// Runs one set with one solver over eps; the first that is at least as exact as CP2K at 1e-5 becomes the headline.
void run_set(nlohmann::json& out, const MatrixSystem& system, const std::string& set, SolverKind solver, int repeat,
             Context& context) {
  const std::string name = solver == SolverKind::lanczos ? "krylov" : "diag";
  for (double eps : {1e-4, 5e-5, 1e-5}) {
    const Measured m = measure(system, bench_options(system, eps, solver), repeat, context);
    const std::string tail = fmt::format("_{}_{:.0e}", set, eps);
    out["seconds_" + name + tail] = m.seconds;
    out["error_mev_" + name + tail] = m.error_mev;
    out["grand_error_mev_" + name + tail] = m.grand_mev;
    out["electron_error_" + name + tail] = m.electrons;
    out["gflops_" + name + tail] = m.gflops;
    context.log.info(fmt::format(
        "{} {} eps {:.0e}: {:.3f} s, E {:+.2e}, E - mu N {:+.2e} meV/atom, N {:+.1e}, n {:.0f}, {:.1f} steps, {:.1f} "
        "GFLOP/s, {:.0f} MiB",
        set, name, eps, m.seconds, m.error_mev, m.grand_mev, m.electrons, m.dimension, m.steps, m.gflops, m.megabytes));
    if (set != "iter1" || out.contains("seconds_" + name)) continue;
    // A small error of E by itself may be due to cancellation.
    if (std::max(std::abs(m.error_mev), std::abs(m.grand_mev)) <= cp2k_error_mev || eps < 5e-5) {
      out["seconds_" + name] = m.seconds;
      out["error_mev_" + name] = m.error_mev;
      out["eps_" + name] = eps;
    }
  }
}

}  // namespace

static nlohmann::json measure_submatrix(const BenchOptions& options, Context& context) {
  const fs::path folder = water_folder(options);
  const int copies = options.integer("copies"), repeat = options.integer("repeat"), large = options.integer("large");
  nlohmann::json out;
  out["ranks"] = context.comm.size();
  out["copies"] = copies;
  out["error_mev_cp2k_submatrix_reported"] = cp2k_error_mev;
  for (const char* set : {"iter1", "scf"}) {
    if (options.text("set") != "all" && options.text("set") != set) continue;
    const MatrixSystem system =
        load_water((folder / fmt::format("h2o32_szv_lattice_{}.h5", set)).string(), copies, context.comm);
    out["atoms"] = system.atoms;
    if (options.yes("krylov")) run_set(out, system, set, SolverKind::lanczos, repeat, context);
    if (options.yes("diag")) run_set(out, system, set, SolverKind::diagonalise, 1, context);
  }
  if (options.yes("peer"))
    add_peer(out, read_cp2k_cell((folder / "h2o32_szv_lattice_iter1.h5").string()), copies, context);
  if (large > 0) {
    const MatrixSystem system = load_water((folder / "h2o32_szv_lattice_iter1.h5").string(), large, context.comm);
    out["atoms_large"] = system.atoms;
    for (double eps : {1e-4, 1e-5}) {
      const Measured m = measure(system, bench_options(system, eps, SolverKind::lanczos), 1, context);
      const std::string tail = eps > 5e-5 ? "" : "_1e-05";
      out["seconds_krylov_large" + tail] = m.seconds;
      out["error_mev_krylov_large" + tail] = m.error_mev;
      out["grand_error_mev_krylov_large" + tail] = m.grand_mev;
      context.log.info(fmt::format("{} atoms, eps {:.0e}: {:.2f} s, E {:+.2e}, E - mu N {:+.2e} meV/atom", system.atoms,
                                   eps, m.seconds, m.error_mev, m.grand_mev));
    }
  }
  const double error = out.value("error_mev_krylov", out.value("error_mev_diag", 0.0));
  out["check"] = fmt::format("{}: band energy of {} atoms differs from the exact one by {:+.1e} meV/atom",
                             std::abs(error) < 0.05 ? "ok" : "WRONG", out["atoms"].get<int>(), error);
  return out;
}

Bench bench_submatrix() {
  return {
      "submatrix",
      "density matrix of water supercells by each solver, beside CP2K where it is installed",
      measure_submatrix,
      {{"data", "folder of h2o32_szv_lattice_iter1.h5 and _scf.h5; submatrix in CAMBIUM_DATA when none is given", ""},
       {"set", "which Hamiltonian", "all", {"all", "iter1", "scf"}},
       {"copies", "of the cell of 32 molecules along each edge", 3},
       {"repeat", "runs of the Krylov solver, of which the fastest counts", 3},
       {"krylov", "measure it", true},
       {"diag", "measure the diagonalisation", true},
       {"peer", "run CP2K where it is installed", true},
       {"large", "copies along each edge of another Krylov run; 0: none", 0}},
      {"set=iter1", "copies=2", "diag=no", "peer=no"}};
}

}  // namespace cambium::submatrix
