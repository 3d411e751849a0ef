// Hamiltonians of neighbours alone, whose density matrix reaches much further.
#include <fmt/format.h>

#include "plugins/submatrix/report/report.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/random_matrices.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

/// A ring of atoms with one function each and hopping t1, t2 in turn (W. P. Su, J. R. Schrieffer and A. J. Heeger,
/// Phys. Rev. Lett. 42, 1698 (1979)); the gap is 2 |t1 - t2|. With `overlap` the basis is not orthogonal: S of
/// neighbours is that much times H.
struct Ring {
  int atoms;
  double t1, t2, overlap = 0.0;

  double hopping(int a, int b) const { return (std::min(a, b) % 2 == 0) == (std::abs(a - b) == 1) ? -t1 : -t2; }
  MatrixSystem system(const Comm& comm) const {
    const auto layout = std::make_shared<const BlockLayout>(std::vector<int>(static_cast<std::size_t>(atoms), 1));
    MatrixSystem out{layout,
                     ColumnRanges::balanced(std::vector<double>(static_cast<std::size_t>(atoms), 1.0), comm.size()),
                     BlockColumns(layout),
                     BlockColumns(layout),
                     atoms,
                     1.0 * atoms,
                     {},
                     {},
                     "ring",
                     {}};
    for (int b = out.ranges.begin(comm.rank()); b < out.ranges.end(comm.rank()); ++b) {
      std::vector<int> rows{(b + atoms - 1) % atoms, b, (b + 1) % atoms};
      std::sort(rows.begin(), rows.end());
      out.hamiltonian.start_column(b), out.overlap.start_column(b);
      for (int a : rows) {
        *out.hamiltonian.add_block(a) = a == b ? 0.0 : hopping(a, b);
        *out.overlap.add_block(a) = a == b ? 1.0 : -overlap * hopping(a, b);
      }
    }
    out.hamiltonian.finish(), out.overlap.finish();
    return out;
  }
  /// 2 times the sum of e - mu over the exact levels e below mu: E - mu N of the exact D at this mu.
  double grand_potential(double mu) const {
    const auto n = static_cast<std::size_t>(atoms);
    std::vector<double> h(n * n, 0.0), s(n * n, 0.0);
    for (int b = 0; b < atoms; ++b) {
      const int a = (b + 1) % atoms;
      const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
      h[i * n + j] = h[j * n + i] = hopping(a, b), s[i * n + j] = s[j * n + i] = -overlap * hopping(a, b),
                s[j * n + j] = 1.0;
    }
    const auto levels = generalised_levels(h, s, atoms);
    double sum = 0.0;
    for (double e : levels) sum += 2.0 * std::min(e - mu, 0.0);
    return sum;
  }
};

}  // namespace

TEST_CASE("a chain of neighbours: no eps changes the result, and the stated interval holds its error all the same") {
  World world;
  constexpr double mev = 27211.386245988;
  for (double overlap : {0.0, 0.2}) {
    const Ring ring{160, 0.35, 0.25, overlap};
    const MatrixSystem system = ring.system(world.comm);
    for (double eps : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6})
      for (auto solver : {SolverKind::lanczos, SolverKind::diagonalise}) {
        DensityOptions options;
        options.eps = options.eps_overlap = eps, options.electrons = system.electrons,
        options.orthogonal = overlap == 0.0, options.solver = solver;
        const auto result = density_matrix(system, options, world.context);
        const double missing =
            (ring.grand_potential(result.mu) - result.energy + result.mu * result.electrons) / ring.atoms;
        INFO("overlap " << overlap << ", eps " << eps << ": missing " << missing * mev << ", stated "
                        << result.error.energy_change * mev << " +- " << result.error.margin * mev
                        << " meV/atom, N off by " << result.electrons - options.electrons);
        CHECK(std::abs(missing) > 100.0 / mev);
        CHECK(result.error.grown == result.error.submatrices);
        CHECK(std::abs(missing - result.error.energy_change) <= result.error.margin);
        // With S^-1/2 of neighbours some decade of eps changes more than the one before, and no end of that is in
        // sight.
        if (result.error.beyond > result.error.by_eps) CHECK(result.error.margin < 0.5 * std::abs(missing));
      }
  }
}

TEST_CASE("a run on a chain of neighbours warns, and what it proposes helps") {
  World world;
  const Ring ring{160, 0.35, 0.25};
  const MatrixSystem system = ring.system(world.comm);
  double before = 0.0;
  for (int size : {0, 32, 64}) {
    DensityOptions options;
    options.eps = options.eps_overlap = 1e-5, options.electrons = system.electrons, options.orthogonal = true;
    if (size > 0) options.groups = {GroupBy::graph, size};
    const auto result = density_matrix(system, options, world.context);
    const double missing =
        (ring.grand_potential(result.mu) - result.energy + result.mu * result.electrons) / ring.atoms * 27211.386245988;
    // What is wrong is at the ends of groups: 160 columns are five of 32 and three of 64.
    if (size > 0) CHECK(std::abs(missing) < 0.65 * std::abs(before));
    CHECK(std::abs(missing - result.error.energy_change * 27211.386245988) < 0.01 * std::abs(missing));
    before = missing;
    warn_of_accuracy(options, result, world.log);
    CHECK(world.log.warnings().back().text ==
          fmt::format("H ends before the density matrix does: in {} of {} submatrices looked at it reaches rows that "
                      "they lack and that no eps adds, which is {:.2g} meV/atom of E - mu N; give block columns larger "
                      "submatrices (groups: {{by: graph, size: 32}}, then twice that, until the energy stays)",
                      result.error.grown, result.error.submatrices, 27211.386245988 * result.error.beyond));
  }
}

TEST_CASE("the estimate where D reaches beyond the submatrices is the same on any number of ranks") {
  World world, alone(MPI_COMM_SELF);
  const Ring ring{120, 0.35, 0.25};
  for (auto by : {GroupBy::none, GroupBy::graph}) {
    DensityOptions options;
    options.eps = options.eps_overlap = 1e-4, options.electrons = ring.atoms, options.orthogonal = true,
    options.groups = {by, by == GroupBy::none ? 0 : 4};
    const auto together = density_matrix(ring.system(world.comm), options, world.context),
               single = density_matrix(ring.system(alone.comm), options, alone.context);
    CHECK(together.energy == Approx(single.energy).epsilon(1e-12));
    CHECK(std::abs(together.error.energy_change - single.error.energy_change) < 1e-12);
    CHECK(std::abs(together.error.margin - single.error.margin) < 1e-12);
    CHECK(together.error.grown == single.error.grown);
    CHECK(single.error.grown > 0);
  }
}
