// Hamiltonians of neighbours alone, whose density matrix reaches much further.
#include <fmt/format.h>

#include <numbers>

#include "plugins/submatrix/density/spin_density.hpp"
#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "plugins/submatrix/tasks/report.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/random_matrices.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

constexpr double mev = 27211.386245988;  // per hartree

/// A chain of atoms with one function each and hopping t1, t2 in turn (W. P. Su, J. R. Schrieffer and A. J. Heeger,
/// Phys. Rev. Lett. 42, 1698 (1979)), open or closed to a ring; the gap is 2 |t1 - t2|. With `overlap` the basis is not
/// orthogonal: S of neighbours is that much times H. `weak`, `kept`: further elements of H, hartree.
struct Atoms {
  int atoms = 160;
  double overlap = 0.0, weak = 0.0;
  bool closed = true;
  double t1 = 0.35, t2 = 0.25, kept = 0.0;

  double hopping(int a, int b) const {
    const int apart = std::abs(a - b), around = closed ? std::min(apart, atoms - apart) : apart;
    if (around == 5 || around == 7) return weak;
    if (around == 3) return kept;
    if (around != 1) return 0.0;
    return (std::min(a, b) % 2 == 0) == (apart == 1) ? -t1 : -t2;
  }
  MatrixSystem system(const Comm& comm) const {
    const auto n = static_cast<std::size_t>(atoms);
    const auto layout = std::make_shared<const BlockLayout>(std::vector<int>(n, 1));
    MatrixSystem out{layout,
                     ColumnRanges::balanced(std::vector<double>(n, 1.0), comm.size()),
                     BlockColumns(layout),
                     BlockColumns(layout),
                     atoms,
                     1.0 * atoms,
                     {},
                     {},
                     "chain",
                     {}};
    for (int a = 0; a < atoms; ++a) {
      const double turn = 2.0 * std::numbers::pi * a / atoms;
      out.centres.push_back({0.2 * atoms * std::cos(turn), 0.2 * atoms * std::sin(turn), 0.0});
    }
    for (int b = out.ranges.begin(comm.rank()); b < out.ranges.end(comm.rank()); ++b) {
      out.hamiltonian.start_column(b);
      out.overlap.start_column(b);
      for (int a = 0; a < atoms; ++a) {
        if (a != b && hopping(a, b) == 0.0) continue;
        *out.hamiltonian.add_block(a) = hopping(a, b);
        if (a == b || std::abs(hopping(a, b)) > 0.1)
          *out.overlap.add_block(a) = a == b ? 1.0 : -overlap * hopping(a, b);
      }
    }
    out.hamiltonian.finish();
    out.overlap.finish();
    return out;
  }
  std::vector<double> levels() const {
    const auto n = static_cast<std::size_t>(atoms);
    std::vector<double> h(n * n, 0.0), s(n * n, 0.0);
    for (int a = 0; a < atoms; ++a)
      for (int b = 0; b < atoms; ++b) {
        const auto at = static_cast<std::size_t>(a) * n + static_cast<std::size_t>(b);
        h[at] = hopping(a, b);
        s[at] = a == b ? 1.0 : std::abs(h[at]) > 0.1 ? -overlap * h[at] : 0.0;
      }
    return generalised_levels(h, s, atoms);
  }
  /// E - T S - mu N of the exact D less that of a result at its mu, hartree per atom.
  double missing(const std::vector<double>& levels, const DensityResult& result, double kt = 0.0) const {
    double sum = 0.0;
    for (double e : levels) {
      const double x = e - result.mu;
      sum +=
          kt > 0.0 ? 2.0 * (std::min(x, 0.0) - kt * std::log1p(std::exp(-std::abs(x) / kt))) : 2.0 * std::min(x, 0.0);
    }
    return (sum - result.energy - result.entropy_term + result.mu * result.electrons) / atoms;
  }
  DensityOptions options(double eps) const {
    DensityOptions out;
    out.eps = out.eps_overlap = eps;
    out.electrons = atoms;
    out.orthogonal = overlap == 0.0;
    return out;
  }
};

double trace(const BlockColumns& d, const BlockColumns& m, const Comm& comm) {
  double sum = 0.0;
  for (int c : m.columns())
    for (int r : m.column(c).rows)
      if (const double* x = d.block(r, c)) sum += *x * *m.block(r, c);
  return comm.sum(sum);
}

}  // namespace

TEST_CASE("chains and rings of neighbours: the error falls with eps, and the stated interval holds it") {
  World world;
  // Any number of ranks gives the same (below); one overlap stands for all on more than one.
  const std::vector<double> overlaps =
      world.comm.size() == 1 ? std::vector<double>{0.0, 0.2, 0.7} : std::vector<double>{0.2};
  for (bool closed : {true, false})
    for (double overlap : overlaps) {
      const Atoms chain{160, overlap, 0.0, closed};
      const MatrixSystem system = chain.system(world.comm);
      const auto levels = chain.levels();
      for (auto solver : {SolverKind::lanczos, SolverKind::diagonalise, SolverKind::newton_schulz}) {
        if (!closed && solver == SolverKind::newton_schulz) continue;
        std::vector<double> error;
        for (double eps : {1e-2, 1e-3, 1e-4, 1e-5}) {
          DensityOptions options = chain.options(eps);
          options.solver = solver;
          if (solver == SolverKind::newton_schulz) options.mu = 0.001;
          const auto result = density_matrix(system, options, world.context);
          const double missing = chain.missing(levels, result);
          INFO((closed ? "ring" : "chain")
               << ", overlap " << overlap << ", solver " << static_cast<int>(solver) << ", eps " << eps << ": missing "
               << missing * mev << ", stated " << result.error.energy_change * mev << " +- "
               << result.error.margin * mev << " meV/atom, N off by " << result.electrons - options.electrons
               << ", rows " << result.columns.mean_dimension);
          CHECK(result.columns.widened == chain.atoms);
          CHECK(std::abs(missing - result.error.energy_change) <= result.error.margin);
          CHECK(std::abs(result.electrons - options.electrons) < 0.5);
          error.push_back(std::abs(missing) * mev);
        }
        CHECK(error[0] < 15.0);
        CHECK(error[2] < 0.1 * error[0]);
        CHECK(error[3] < 0.1 * error[1]);
        CHECK(error[3] < 0.01);
      }
    }
}

TEST_CASE("widened patterns with the local form, a temperature and without an estimate") {
  World world;
  for (double overlap : {0.0, 0.2}) {
    const Atoms ring{120, overlap};
    const MatrixSystem system = ring.system(world.comm);
    const auto levels = ring.levels();
    DensityOptions options = ring.options(1e-5);
    options.energy_weighted = true;
    const auto plain = density_matrix(system, options, world.context);
    // D and W are those of the whole at the places of H.
    CHECK(std::abs(2.0 * trace(plain.density, system.overlap, world.comm) - plain.electrons) < 1e-3);
    CHECK(std::abs(2.0 * trace(plain.density, system.hamiltonian, world.comm) - plain.energy) < 1e-3);
    CHECK(std::abs(2.0 * trace(*plain.energy_weighted, system.overlap, world.comm) - plain.energy) < 1e-3);
    options.sample = 0;
    CHECK(density_matrix(system, options, world.context).energy == Approx(plain.energy).epsilon(1e-13));
    options.sample = 8;
    for (int kind = 1; kind < 3; ++kind) {
      DensityOptions other = options;
      if (kind == 1) other.kt = 0.003;
      if (kind == 2) {
        other.form = Form::local;
        other.solver = SolverKind::diagonalise;
      }
      if (kind == 2 && overlap == 0.0) continue;  // is for an overlap
      const auto result = density_matrix(system, other, world.context);
      const double missing = ring.missing(levels, result, other.kt);
      INFO("overlap " << overlap << ", kind " << kind << ": missing " << missing * mev << ", stated "
                      << result.error.energy_change * mev << " +- " << result.error.margin * mev
                      << " meV/atom, N off by " << result.electrons - options.electrons << ", rows "
                      << result.columns.mean_dimension);
      CHECK(result.columns.widened == ring.atoms);
      CHECK(std::abs(missing) * mev < 0.02);
      CHECK(std::abs(missing - result.error.energy_change) * mev <= std::max(result.error.margin * mev, 1e-3));
      CHECK(std::abs(2.0 * trace(result.density, system.hamiltonian, world.comm) - result.energy) < 1e-3);
    }
  }
}

TEST_CASE("groups of block columns of any size get the rows to which D reaches, on any number of ranks") {
  World world, alone(MPI_COMM_SELF);
  int trials = 0, covered = 0;
  for (double overlap : {0.0, 0.2})
    for (auto [by, size] :
         {std::pair(GroupBy::graph, 2), std::pair(GroupBy::graph, 4), std::pair(GroupBy::graph, 7),
          std::pair(GroupBy::graph, 32), std::pair(GroupBy::space, 5), std::pair(GroupBy::automatic, 0)})
      for (auto form : {Form::orthogonal, Form::local}) {
        if (form == Form::local && (overlap == 0.0 || size > 4)) continue;
        const Atoms ring{120, overlap};
        const MatrixSystem system = ring.system(world.comm);
        const auto levels = ring.levels();
        std::vector<double> error;
        for (double eps : {1e-2, 1e-3, 1e-5}) {
          DensityOptions options = ring.options(eps);
          options.groups = {by, size};
          options.energy_weighted = true;
          options.form = form;
          if (form == Form::local || size == 7) options.solver = SolverKind::diagonalise;
          const auto result = density_matrix(system, options, world.context);
          const double missing = ring.missing(levels, result);
          INFO("overlap " << overlap << ", groups of " << size << " (" << static_cast<int>(by) << "), form "
                          << static_cast<int>(form) << ", eps " << eps << ": missing " << missing * mev << ", stated "
                          << result.error.energy_change * mev << " +- " << result.error.margin * mev
                          << " meV/atom, N off by " << result.electrons - options.electrons << ", rows "
                          << result.columns.mean_dimension << ", submatrices " << result.columns.submatrices);
          CHECK(result.columns.widened == ring.atoms);
          ++trials, covered += std::abs(missing - result.error.energy_change) <= result.error.margin ? 1 : 0;
          error.push_back(std::abs(missing) * mev);
          // D and W are those of the energy, at the places of H.
          const double most = 1e-3 + 30.0 * eps;
          CHECK(std::abs(2.0 * trace(result.density, system.overlap, world.comm) - result.electrons) < most);
          CHECK(std::abs(2.0 * trace(result.density, system.hamiltonian, world.comm) - result.energy) < most);
          CHECK(std::abs(2.0 * trace(*result.energy_weighted, system.overlap, world.comm) - result.energy) < most);
          if (eps < 1e-4 || world.comm.size() == 1 || !world.comm.root()) continue;
          const auto single = density_matrix(ring.system(alone.comm), options, alone.context);
          CHECK(result.energy == Approx(single.energy).epsilon(1e-12));
          CHECK(result.columns.mean_dimension == Approx(single.columns.mean_dimension));
          CHECK(std::abs(result.error.margin - single.error.margin) < 1e-12);
        }
        CHECK(error[0] < 15.0);
        CHECK(error[2] < 0.01);
        CHECK(error[2] < std::max(0.1 * error[1], 2e-3));
      }
  INFO(covered << " of " << trials << " in the stated interval");
  CHECK(covered >= trials - trials / 10);
}

TEST_CASE("two spins whose Hamiltonians end before their density matrices do") {
  World world;
  const Atoms ring{100, 0.2};
  MatrixSystem system = ring.system(world.comm);
  system.hamiltonian_down = system.hamiltonian;
  const DensityOptions options = ring.options(1e-5);
  const auto one = density_matrix(system, options, world.context);
  const SpinDensity spins = spin_density(system, options, std::nullopt, world.context);
  CHECK(spins.channel[0].energy + spins.channel[1].energy == Approx(one.energy).epsilon(1e-9));
  CHECK(spins.channel[0].electrons == Approx(50.0).epsilon(1e-4));
  CHECK(std::abs(ring.missing(ring.levels(), one)) * mev < 0.01);
}

TEST_CASE("widened patterns and their estimate are the same on any number of ranks") {
  World world, alone(MPI_COMM_SELF);
  for (double overlap : {0.0, 0.2})
    for (double eps : {1e-3, 1e-4}) {
      const Atoms ring{120, overlap};
      const DensityOptions options = ring.options(eps);
      const auto together = density_matrix(ring.system(world.comm), options, world.context);
      CHECK(together.columns.widened == ring.atoms);
      if (world.comm.size() == 1 || !world.comm.root()) continue;  // the others would compute the same
      const auto single = density_matrix(ring.system(alone.comm), options, alone.context);
      CHECK(together.energy == Approx(single.energy).epsilon(1e-12));
      CHECK(together.columns.mean_dimension == Approx(single.columns.mean_dimension));
      CHECK(together.columns.widened == single.columns.widened);
      CHECK(std::abs(together.error.energy_change - single.error.energy_change) < 1e-12);
      CHECK(std::abs(together.error.margin - single.error.margin) < 1e-12);
    }
}

TEST_CASE(
    "eps between strong and weak blocks says nothing of where submatrices end, however many weak ones there are") {
  World world;
  for (double overlap : {0.0, 0.2}) {
    const Atoms ring{160, overlap, 0.9e-5};
    const auto levels = ring.levels();
    const auto result = density_matrix(ring.system(world.comm), ring.options(1e-5), world.context);
    const double missing = ring.missing(levels, result);
    INFO("overlap " << overlap << ": missing " << missing * mev << ", stated " << result.error.energy_change * mev
                    << " +- " << result.error.margin * mev << " meV/atom, rows " << result.columns.mean_dimension);
    CHECK(result.columns.widened == ring.atoms);
    CHECK(std::abs(missing) * mev < 0.05);
    CHECK(std::abs(missing - result.error.energy_change) <= result.error.margin);
  }
}

TEST_CASE(
    "where eps leaves blocks out it says where submatrices end: a run warns when D reaches further, and what it "
    "proposes helps") {
  World world;
  Atoms ring{160, 0.0, 0.9e-5};
  ring.kept = 3e-5;
  const MatrixSystem system = ring.system(world.comm);
  const auto levels = ring.levels();
  double before = 0.0;
  for (int size : {0, 32, 64}) {
    DensityOptions options = ring.options(1e-5);
    if (size > 0) options.groups = {GroupBy::graph, size};
    const auto result = density_matrix(system, options, world.context);
    const double missing = ring.missing(levels, result) * mev;
    CHECK(result.columns.widened == 0);
    CHECK(std::abs(missing) > 10.0);
    // What is wrong is at the ends of groups: 160 columns are five of 32 and three of 64.
    if (size > 0) CHECK(std::abs(missing) < 0.65 * std::abs(before));
    CHECK(std::abs(missing - result.error.energy_change * mev) < 0.01 * std::abs(missing));
    before = missing;
    warn_of_accuracy(options, result, world.log);
    const std::string text = fmt::format(
        "H ends before the density matrix does: in {} of {} sampled submatrices it reaches rows that they lack and "
        "that no eps adds, which is {:.2g} meV/atom of E - mu N; give block columns larger submatrices (groups: {{by: "
        "graph, size: 32}}, then twice that, until the energy stays)",
        result.error.grown, result.error.submatrices, mev * result.error.beyond);
    const auto warnings = world.log.warnings();
    const auto said = std::any_of(warnings.begin(), warnings.end(), [&](const auto& w) { return w.text == text; });
    CHECK(said == (result.error.beyond > result.error.by_eps));
  }
}

TEST_CASE("submatrices that may not grow as far as D reaches are warned of") {
  World world;
  DensityResult result(std::make_shared<const BlockLayout>(std::vector<int>(3, 1)));
  result.columns.widened = 3;
  result.columns.at_limit = 2;
  result.columns.largest_dimension = 6001;
  warn_of_accuracy({}, result, world.log);
  REQUIRE(world.log.warnings().size() == 1);
  CHECK(world.log.warnings().front().text ==
        "in 2 of 3 block columns D reaches further than the 6001 functions that a submatrix may have; give the "
        "electrons a temperature "
        "(temperature: 1000 K), or choose a larger eps");
}

TEST_CASE("no column of water ends before D does") {
  World world;
  const CellSystem cell = read_hdf5_cell(CAMBIUM_SOURCE_DIR "/inputs/submatrix/h2o32.h5", BlockKind::molecule);
  for (const Cell n : {Cell{1, 1, 1}, Cell{2, 2, 2}}) {
    const MatrixSystem system = supercell(cell, n, world.comm);
    for (double eps : {1e-2, 1e-3, 1e-4})
      for (auto form : {Form::orthogonal, Form::local}) {
        if (n[0] == 2 && eps < 5e-3) continue;
        DensityOptions options;
        options.eps = options.eps_overlap = eps;
        options.electrons = system.electrons;
        options.form = form;
        options.sample = 0;
        if (form == Form::local) options.solver = SolverKind::diagonalise;
        CHECK(density_matrix(system, options, world.context).columns.widened == 0);
      }
  }
}
