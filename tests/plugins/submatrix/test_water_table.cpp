// Kohn-Sham matrices of water against stored exact energies, and the errors of the method as numpy found them.
#include <cstdlib>
#include <iostream>
#include <optional>

#include "core/base/error.hpp"
#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

constexpr double mev = 27211.386245988;  // per hartree

/// Path of a data file, or none (said once).
std::optional<std::string> data(const std::string& name) {
  const char* folder = std::getenv("CAMBIUM_DATA");
  if (!folder) {
    std::cout << "SKIPPED: " << name << ": CAMBIUM_DATA is not set\n";
    return {};
  }
  return std::string(folder) + "/submatrix/" + name;
}

struct Row {
  const char* file;
  int n;
  double eps;
  double dimension, error, digit, electrons;  ///< mean n; E error (meV/atom) and half its last digit; N error
};

// Dense eigendecomposition of every submatrix, exact S^-1/2, mu in the middle of the gap (numpy).
const Row table[] = {
    {"h2o32_szv_lattice_scf.h5", 2, 1e-4, 289, 0.0052, 5e-5, 3.8e-3},
    {"h2o32_szv_lattice_scf.h5", 2, 1e-5, 522, 0.000268, 5e-7, 4.2e-4},
    {"h2o32_szv_lattice_iter1.h5", 2, 1e-4, 289, -0.00268, 5e-6, 1.1e-3},
    {"h2o32_szv_lattice_iter1.h5", 2, 1e-5, 522, -0.000186, 5e-7, 7.7e-5},
    {"h2o32_szv_lattice_iter1.h5", 3, 1e-3, 131, -0.0767, 5e-5, 0},
    {"h2o32_szv_lattice_iter1.h5", 3, 1e-4, 289, -0.00267, 5e-6, 0},
    {"h2o32_szv_lattice_iter1.h5", 3, 1e-5, 522, -0.00018, 5e-6, 0},
};

/// Electron and energy errors of one evaluation.
struct Errors {
  double dimension, energy, electrons, grand;  ///< meV/atom but for the number of electrons
  double mu;                                   ///< meV/atom per electron
};

Errors evaluate(const std::string& path, int copies, const DensityOptions& changed) {
  World world(MPI_COMM_SELF);
  const Cell n{copies, copies, copies};
  const MatrixSystem system = supercell(read_hdf5_cell(path, BlockKind::molecule), n, world.comm);
  const Reference reference = read_hdf5_reference(path, n);
  DensityOptions options = changed;
  options.electrons = system.electrons;
  options.sample = 0;
  const auto result = density_matrix(system, options, world.context);
  const double per_atom = mev / static_cast<double>(system.atoms), defect = result.electrons - system.electrons;
  const double error = (result.energy - *reference.band_energy) * per_atom;
  std::cout << path.substr(path.rfind('/') + 1) << " " << copies << " eps " << options.eps << ": n "
            << result.columns.mean_dimension << ", E " << error << " meV/atom, N " << defect
            << std::endl;  // long runs: what is known stays known
  const double mu = 0.5 * (*reference.homo + *reference.lumo) * per_atom;
  return {result.columns.mean_dimension, error, defect, error - mu * defect, mu};
}

DensityOptions with_eps(double eps, double eps_overlap) {
  DensityOptions out;
  out.eps = eps;
  out.eps_overlap = eps_overlap;
  out.krylov_tolerance = 0.1 * eps;
  out.prune = 1e-6;
  return out;
}

void compare(bool quick) {
  for (const Row& row : table) {
    if (quick != (row.n == 2 && (row.eps > 5e-5 || row.error > 0.0))) continue;
    const auto path = data(row.file);
    if (!path) return;
    const Errors found = evaluate(*path, row.n, with_eps(row.eps, row.eps > 5e-5 ? 1e-7 : 1e-8));
    INFO(row.file << " " << row.n << " eps " << row.eps << ": n " << found.dimension << ", E " << found.energy << ", N "
                  << found.electrons << ", E - mu N " << found.grand);
    CHECK(found.dimension == Approx(row.dimension).epsilon(0.01));
    CHECK(std::abs(found.energy - row.error) < 0.01 * std::abs(row.error) + row.digit);
    if (row.electrons == 0.0) continue;
    CHECK(found.electrons == Approx(row.electrons).epsilon(0.03));
    // E - mu N, which has no cancellation, no worse than the table's two digits of N allow to say.
    CHECK(std::abs(found.grand) <
          std::abs(row.error - found.mu * row.electrons) + row.digit + 0.03 * std::abs(found.mu * row.electrons));
  }
}

/// The local form, generalised eigenproblems of S and K on the union of both patterns.
const Row local_table[] = {
    {"h2o32_szv_lattice_scf.h5", 2, 1e-4, 284, -0.0469, 5e-5, -1.5e-2},
    {"h2o32_szv_lattice_iter1.h5", 2, 1e-4, 284, 0.00185, 5e-6, -2.4e-3},
    {"h2o32_szv_lattice_scf.h5", 2, 1e-5, 435, -0.0129, 5e-5, -4.1e-3},
    {"h2o32_szv_lattice_iter1.h5", 2, 1e-5, 435, 0.000417, 5e-7, -5.3e-4},
};

void compare_local(bool quick) {
  for (const Row& row : local_table) {
    if (quick != (row.eps > 5e-5)) continue;
    const auto path = data(row.file);
    if (!path) return;
    DensityOptions options = with_eps(row.eps, row.eps);
    options.form = Form::local;
    options.solver = SolverKind::diagonalise;
    const Errors found = evaluate(*path, row.n, options);
    INFO(row.file << " " << row.n << " eps " << row.eps << ": n " << found.dimension << ", E " << found.energy << ", N "
                  << found.electrons);
    CHECK(found.dimension == Approx(row.dimension).epsilon(0.01));
    CHECK(std::abs(found.energy - row.error) < 0.01 * std::abs(row.error) + row.digit);
    CHECK(found.electrons == Approx(row.electrons).epsilon(0.04));
  }
}

}  // namespace

TEST_CASE("the local form on water, 768 atoms", "[data]") { compare_local(true); }

TEST_CASE("the local form on water, all rows", "[.long][data]") { compare_local(false); }

TEST_CASE("submatrix sizes and errors on water, 768 atoms", "[data]") { compare(true); }

TEST_CASE("submatrix sizes and errors on water, all rows", "[.long][data]") { compare(false); }

TEST_CASE("errors fall from decade to decade of eps, up to 20,736 atoms", "[.long][data]") {
  const char* only = std::getenv("CAMBIUM_WATER_COPIES");  // one size, for a run in parts
  for (const char* file : {"h2o32_szv_lattice_iter1.h5", "h2o32_szv_lattice_scf.h5"}) {
    const auto path = data(file);
    if (!path) return;
    for (int copies : {1, 2, 3, 4, 6}) {
      if (only && std::atoi(only) != copies) continue;
      Errors before{0, 1e9, 1e9, 1e9, 0};
      for (double eps : {1e-3, 1e-4, 1e-5}) {
        const Errors found = evaluate(*path, copies, with_eps(eps, std::max(1e-6, 0.1 * eps)));
        INFO(file << " " << copies << " eps " << eps);
        CHECK(std::abs(found.energy) < std::abs(before.energy));
        CHECK(std::abs(found.electrons) < std::abs(before.electrons));
        CHECK(std::abs(found.grand) < std::abs(before.grand));
        before = found;
      }
    }
  }
}

TEST_CASE("other solvers agree with float64 Lanczos on water", "[data]") {
  const auto path = data("h2o32_szv_lattice_scf.h5");
  if (!path) return;
  DensityOptions options = with_eps(1e-4, 1e-4);
  const Errors exact = evaluate(*path, 1, options);
  options.solver = SolverKind::diagonalise;
  CHECK(std::abs(evaluate(*path, 1, options).energy - exact.energy) < 1e-4);
  options.solver = SolverKind::lanczos;
  options.precision = Precision::float32;
  options.krylov_tolerance = 1e-4;
  CHECK(std::abs(evaluate(*path, 1, options).energy - exact.energy) < 0.01);
}
