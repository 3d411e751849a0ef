// mu is in the gap that holds the electrons, however many there are.
#include <fmt/format.h>

#include <iomanip>

#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/tasks/report.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/dense_samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

/// Molecules of two functions that do not see each other, whose lower level is `level(b)`; the upper ones lie from 0.3
/// to 0.5.
struct Isolated {
  int blocks;
  std::function<double(int)> level;

  static double fraction(int b, double step) { return std::fmod(step * (b + 1), 1.0); }
  double upper(int b) const { return 0.3 + 0.2 * fraction(b, 0.7548776662466927); }

  MatrixSystem system(const Comm& comm) const {
    auto layout = std::make_shared<const BlockLayout>(std::vector<int>(blocks, 2));
    const std::vector<double> cost(blocks, 1.0);
    MatrixSystem out{layout,
                     ColumnRanges::balanced(cost, comm.size()),
                     BlockColumns(layout),
                     BlockColumns(layout),
                     blocks,
                     2.0 * blocks,
                     {},
                     {},
                     "isolated",
                     {}};
    for (int b = out.ranges.begin(comm.rank()); b < out.ranges.end(comm.rank()); ++b) {
      const double angle = 6.28 * fraction(b, 0.5698402909980532), c = std::cos(angle), s = std::sin(angle),
                   low = level(b), high = upper(b);
      out.hamiltonian.start_column(b);
      double* h = out.hamiltonian.add_block(b);
      h[0] = low * c * c + high * s * s;
      h[3] = low * s * s + high * c * c;
      h[1] = h[2] = (low - high) * c * s;
    }
    out.hamiltonian.finish();
    return out;
  }

  /// Exact energy of `electrons` at zero temperature.
  double energy(double electrons) const {
    std::vector<double> levels;
    for (int b = 0; b < blocks; ++b) {
      levels.push_back(level(b));
      levels.push_back(upper(b));
    }
    std::sort(levels.begin(), levels.end());
    return band_energy(levels, static_cast<int>(0.5 * electrons));
  }
};

double valence(int b) { return -0.9 + 0.3 * Isolated::fraction(b, 0.6180339887498949); }

DensityResult solved(const Isolated& molecules, double electrons, World& world) {
  DensityOptions options;
  options.orthogonal = true;
  options.electrons = electrons;
  return density_matrix(molecules.system(world.comm), options, world.context);
}

}  // namespace

TEST_CASE("occupied and empty states in the middle of the gap are counted in systems of any size") {
  World world;
  for (const auto& [blocks, defects] : {std::pair(300, 1), std::pair(9000, 1), std::pair(60000, 6)}) {
    // Levels of the defects, in the gap from -0.6 to 0.3.
    const Isolated molecules{blocks, [blocks, defects](int b) {
                               return b % (blocks / defects) == blocks / defects / 2 ? -0.295 + 0.01 * b / blocks
                                                                                     : valence(b);
                             }};
    for (const double charge : {0.0, -2.0 * defects, -2.0 * (defects / 2)}) {
      const double electrons = 2.0 * blocks + charge;
      const DensityResult result = solved(molecules, electrons, world);
      INFO(blocks << " blocks, " << defects << " defects, charge " << charge << ": N " << std::setprecision(12)
                  << result.electrons << ", E off by " << result.energy - molecules.energy(electrons));
      CHECK(std::abs(result.electrons - electrons) < 1e-6);
      CHECK(std::abs(result.energy - molecules.energy(electrons)) < 1e-9 * std::abs(result.energy));
    }
  }
}

TEST_CASE("dynamics, whose truncation brings charge, counts states in the gap in systems of any size, too") {
  World world;
  for (const auto& [blocks, defects] : {std::pair(300, 1), std::pair(9000, 1), std::pair(40000, 3)}) {
    const Isolated molecules{blocks, [blocks, defects](int b) {
                               return b % (blocks / defects) == blocks / defects / 2 ? -0.2 + 0.01 * b / blocks
                                                                                     : valence(b);
                             }};
    for (const double charge : {0.0, -2.0 * defects}) {
      DensityOptions options;
      options.orthogonal = true;
      options.mid_gap = true;
      options.sample = 0;
      options.electrons = 2.0 * blocks + charge;
      const auto result = density_matrix(molecules.system(world.comm), options, world.context);
      INFO(blocks << " blocks, " << defects << " defects, charge " << charge << ": N " << std::setprecision(12)
                  << result.electrons << ", E off by " << result.energy - molecules.energy(options.electrons));
      CHECK(std::abs(result.electrons - options.electrons) < 1e-6);
      CHECK(std::abs(result.energy - molecules.energy(options.electrons)) < 1e-9 * std::abs(result.energy));
    }
  }
}

TEST_CASE("a state just below the empty ones is occupied where the electrons are there for it") {
  World world;
  for (const double depth : {0.1, 0.02, 1e-3}) {
    const Isolated molecules{12000, [depth](int b) { return b == 7000 ? 0.3 - depth : valence(b); }};
    const DensityResult result = solved(molecules, 24000.0, world);
    INFO(depth << " hartree deep: N " << result.electrons);
    CHECK(std::abs(result.electrons - 24000.0) < 1e-6);
    CHECK(std::abs(result.energy - molecules.energy(24000.0)) < 1e-9 * std::abs(result.energy));
  }
}

TEST_CASE("an odd electron sits in half a level") {
  World world;
  const Isolated molecules{9000, [](int b) { return b == 4000 ? -0.2 : valence(b); }};
  const DensityResult result = solved(molecules, 17999.0, world);
  CHECK(std::abs(result.electrons - 17999.0) < 1e-6);
  CHECK(result.mu == Approx(-0.2).margin(1e-9));
}

TEST_CASE("where truncation moves the count by more than half an electron, mu stays in the gap and the run says so") {
  World world;
  constexpr int blocks = 20000;
  const MatrixSystem system = Chain(blocks).system(world.comm);
  DensityOptions options;
  options.orthogonal = true;
  options.eps = 0.1;
  options.electrons = 2.0 * blocks;
  options.sample = 0;
  const auto result = density_matrix(system, options, world.context);
  INFO("N off by " << result.electrons - options.electrons << ", gap from " << result.gap_low << " to "
                   << result.gap_high);
  CHECK(result.electrons - options.electrons > 1.0);  // five times what 4,000 blocks have, 0.3
  CHECK(result.electrons - options.electrons < 2.0);
  CHECK(result.gap_high - result.gap_low > 1.0);
  REQUIRE(warn_of_count(options, result.electrons, false, world.log));
  CHECK(world.log.warnings().back().text ==
        fmt::format("the number of electrons is off by {:+.4g}: the submatrices have no gap at 40000 electrons, and mu "
                    "is in the one next to it; choose a smaller eps_filter than 0.1",
                    result.electrons - options.electrons));
  CHECK(!warn_of_count(options, options.electrons + 0.4, false, world.log));
  REQUIRE(warn_of_count(options, options.electrons + 0.6, true, world.log));
  CHECK(world.log.warnings().back().text ==
        "the number of electrons is off by +0.6: the submatrices have no gap at 40000 electrons, and mu is in the one "
        "next to it; choose a longer localisation_radius of matrices.tight_binding");
}

TEST_CASE("a wrong count of an odd number of electrons is not blamed on eps") {
  World world;
  DensityOptions options;
  options.electrons = 23.0;
  CHECK(!warn_of_odd_count(options, 23.0 + 1e-3, world.log));
  REQUIRE(warn_of_odd_count(options, 22.75, world.log));
  CHECK(
      world.log.warnings().back().text ==
      "the number of electrons is off by -0.25: states hold two electrons each, so that no gap has an odd number, 23; "
      "give the electrons a temperature (temperature: 1000 K), or two spin channels (hamiltonian_down, or K_down in "
      "the file)");
  options.electrons = 24.0;
  CHECK(!warn_of_odd_count(options, 23.0, world.log));
  options.electrons = 23.0;
  options.kt = 1e-3;
  CHECK(!warn_of_odd_count(options, 22.0, world.log));
}

TEST_CASE("random molecules of any size with states all over the gap, at every number of electrons that has a gap") {
  World world;
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    DensePair pair;
    std::vector<int> block;
    for (int b = 0; b < 30; ++b) {
      pair.sizes.push_back(1 + static_cast<int>(engine() % 4));
      block.insert(block.end(), static_cast<std::size_t>(pair.sizes.back()), b);
    }
    const auto n = block.size();
    pair.h.assign(n * n, 0.0);
    pair.s.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      // Two bands, and every tenth level anywhere between them.
      pair.h[i * n + i] =
          engine() % 10 == 0 ? 0.5 * uniform(engine) : (uniform(engine) < 0.0 ? -0.9 : 0.9) + 0.15 * uniform(engine);
      pair.s[i * n + i] = 1.0;
      for (std::size_t j = 0; j < i; ++j) {
        const double fall = std::exp(-1.2 * std::abs(block[i] - block[j]));
        pair.h[i * n + j] = pair.h[j * n + i] = 0.02 * fall * uniform(engine);
        pair.s[i * n + j] = pair.s[j * n + i] = 0.04 * fall * uniform(engine);
      }
    }
    const auto levels = pair.levels();
    int tried = 0;
    for (std::size_t k = 1; k < n; ++k) {
      if (levels[k] - levels[k - 1] < 0.03 || std::abs(levels[k]) > 0.8) continue;
      const double electrons = 2.0 * static_cast<double>(k), exact = band_energy(levels, static_cast<int>(k));
      DensityOptions options;
      options.eps = options.eps_overlap = 1e-7;
      options.electrons = electrons;
      options.sample = 0;
      const auto result = density_matrix(pair.system(world.comm, electrons), options, world.context);
      INFO("seed " << seed << ", " << electrons << " electrons, gap " << levels[k] - levels[k - 1] << ": N off by "
                   << result.electrons - electrons << ", E by " << result.energy - exact);
      CHECK(std::abs(result.electrons - electrons) < 1e-4);
      CHECK(std::abs(result.energy - exact) < 1e-5);
      CHECK(result.mu > levels[k - 1]);
      CHECK(result.mu < levels[k]);
      ++tried;
    }
    CHECK(tried > 1);
  }
}
