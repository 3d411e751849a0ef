// Submatrices of groups of block columns: the partitions, their cost, and what they do to energies.
#include <numeric>

#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "plugins/submatrix/submatrices/submatrix_cost.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

constexpr int blocks = 60;

DensityOptions options_of(double eps, SolverKind solver, GroupBy by, int size = 0) {
  DensityOptions options;
  options.eps = eps;
  options.eps_overlap = 1e-10;  // what is left is the error of the submatrices
  options.electrons = 2.0 * blocks;
  options.krylov_tolerance = 1e-9;
  options.solver = solver;
  options.groups = {by, size};
  return options;
}

/// A chain knows where its blocks are.
MatrixSystem placed(const Chain& chain, const Comm& comm) {
  MatrixSystem out = chain.system(comm);
  for (int b = 0; b < blocks; ++b) out.centres.push_back({1.5 * b, 0.0, 0.1 * b});
  return out;
}

/// Each block overlaps with `reach` others on either side along a ring.
BlockPattern ring(int columns, int reach) {
  BlockPattern out(static_cast<std::size_t>(columns));
  for (int c = 0; c < columns; ++c) {
    for (int k = -reach; k <= reach; ++k) out[c].push_back((c + k + columns) % columns);
    std::sort(out[c].begin(), out[c].end());
  }
  return out;
}

double cube(double n, double) { return n * n * n; }

void check_partition(const std::vector<std::vector<int>>& groups, int columns) {
  std::vector<int> all;
  for (const auto& g : groups) all.insert(all.end(), g.begin(), g.end());
  std::sort(all.begin(), all.end());
  std::vector<int> expected(columns);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(all == expected);
}

}  // namespace

TEST_CASE("a ring is cut into arcs of the length that costs least") {
  const int columns = 48, reach = 6;
  const BlockLayout layout(std::vector<int>(columns, 2));
  const BlockPattern pattern = ring(columns, reach);
  // An arc of g columns has g + 2 reach blocks: of arcs of equal length 6 are cheapest, (18 / 13)^3 / 6 of single
  // columns, 4 or 8 little dearer.
  const Grouping found = choose_groups(pattern, layout, {}, {GroupBy::graph, 0}, cube);
  check_partition(found.groups, columns);
  CHECK(found.by == "graph");
  CHECK(found.ratio < 1.06 * std::pow(18.0 / 13.0, 3) / 6.0);
  double by_hand = 0.0;
  for (const auto& g : found.groups) {
    std::vector<int> rows;
    for (int c : g) rows.insert(rows.end(), pattern[c].begin(), pattern[c].end());
    std::sort(rows.begin(), rows.end());
    by_hand += std::pow(2.0 * static_cast<double>(std::unique(rows.begin(), rows.end()) - rows.begin()), 3);
  }
  CHECK(found.ratio == Approx(by_hand / (columns * std::pow(26.0, 3))).epsilon(1e-12));
  // A cost that punishes wanted columns keeps them single, and `auto` then says none.
  const SubmatrixCost wide = [](double n, double width) { return n * n * width * width; };
  CHECK(choose_groups(pattern, layout, {}, {GroupBy::automatic, 0}, wide).by == "none");
  CHECK(choose_groups(pattern, layout, {}, {GroupBy::automatic, 0}, wide).ratio == 1.0);
  // With a size, as large as allowed whatever it costs.
  for (const auto& g : merged_groups(pattern, layout, 4, wide)) CHECK(g.size() == 4);
}

TEST_CASE("bisection in space gives compact groups of the size that was asked for") {
  BlockCentres centres;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 8; ++k) centres.push_back({3.0 * i, 3.0 * j, 3.0 * k});
  const auto groups = bisected_groups(centres, 8);
  check_partition(groups, 128);
  for (const auto& g : groups) {
    REQUIRE(g.size() == 8);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double low = 1e9, high = -1e9;
      for (int c : g) {
        low = std::min(low, centres[c][axis]);
        high = std::max(high, centres[c][axis]);
      }
      CHECK(high - low == Approx(3.0));
    }
  }
}

TEST_CASE(
    "groups have the energy of whole problems, and come nearer to the filtered matrix than single columns at the same "
    "eps") {
  World world;
  const Chain chain(blocks);
  const auto levels = chain.levels();
  const double exact = 2.0 * std::accumulate(levels.begin(), levels.begin() + blocks, 0.0);
  const MatrixSystem system = placed(chain, world.comm);
  for (auto solver : {SolverKind::diagonalise, SolverKind::lanczos}) {
    for (auto by : {GroupBy::graph, GroupBy::space}) {
      auto options = options_of(1e-9, solver, by, 5);
      options.energy_weighted = true;
      const auto result = density_matrix(system, options, world.context);
      CHECK(result.energy == Approx(exact).epsilon(1e-9));
      CHECK(result.columns.submatrices < blocks / 3);
      CHECK(result.error.idempotency < 1e-6);
    }
    // What a submatrix method adds is the distance to the function of the whole filtered matrix, one group of all
    // columns.
    for (double eps : {1e-2, 1e-3, 1e-4, 1e-5}) {
      const auto energy = [&](GroupBy by, int size) {
        return density_matrix(system, options_of(eps, solver, by, size), world.context).energy;
      };
      const double whole = energy(GroupBy::graph, blocks), single = std::abs(energy(GroupBy::none, 0) - whole);
      for (int size : {2, 4, 8}) CHECK(std::abs(energy(GroupBy::graph, size) - whole) < 0.9 * single);
    }
  }
  auto local = options_of(1e-3, SolverKind::diagonalise, GroupBy::none);
  local.form = Form::local;
  const double single = std::abs(density_matrix(system, local, world.context).energy - exact);
  local.groups = {GroupBy::graph, 4};
  CHECK(std::abs(density_matrix(system, local, world.context).energy - exact) < single);
}

TEST_CASE("both solvers give the same for groups, however wide they are against their submatrix") {
  World world;
  const Chain chain(blocks);
  const MatrixSystem system = placed(chain, world.comm);
  for (double eps : {1e-2, 1e-4})
    for (int size : {2, 3, 5, 8, 13}) {
      const auto dense =
          density_matrix(system, options_of(eps, SolverKind::diagonalise, GroupBy::space, size), world.context);
      const auto krylov =
          density_matrix(system, options_of(eps, SolverKind::lanczos, GroupBy::space, size), world.context);
      CHECK(krylov.energy == Approx(dense.energy).epsilon(1e-10));
      CHECK(krylov.electrons == Approx(dense.electrons).epsilon(1e-10));
    }
}

TEST_CASE("errors of water fall with the size of groups at the same eps") {
  World world;
  const CellSystem cell = read_hdf5_cell(CAMBIUM_SOURCE_DIR "/inputs/submatrix/h2o32.h5", BlockKind::molecule);
  const MatrixSystem system = supercell(cell, {1, 1, 1}, world.comm);
  const double exact = *read_hdf5_reference(CAMBIUM_SOURCE_DIR "/inputs/submatrix/h2o32.h5", {1, 1, 1}).band_energy;
  auto options = options_of(1e-3, SolverKind::diagonalise, GroupBy::none);
  options.eps_overlap = 1e-7;
  options.electrons = system.electrons;
  double before = 1e9;
  for (int size : {1, 2, 4, 8}) {
    options.groups = {size > 1 ? GroupBy::graph : GroupBy::none, size};
    const auto result = density_matrix(system, options, world.context);
    const double error = std::abs(result.energy - exact - result.mu * (result.electrons - options.electrons));
    INFO(size << ": E " << result.energy - exact << " E - mu N " << error << " ratio " << result.groups.predicted);
    CHECK(error < before);
    before = error;
  }
  options.groups = {GroupBy::space, 4};
  CHECK(density_matrix(system, options, world.context).groups.by == "space");
}

TEST_CASE("auto is never predicted to cost more than single columns") {
  World world;
  const Chain chain(blocks);
  const MatrixSystem system = placed(chain, world.comm);
  for (auto solver : {SolverKind::diagonalise, SolverKind::lanczos}) {
    const auto result = density_matrix(system, options_of(1e-5, solver, GroupBy::automatic), world.context);
    CHECK(result.groups.predicted <= 1.0);
    CHECK((result.groups.by == "none") == (result.columns.submatrices == blocks));
    const double forced =
        density_matrix(system, options_of(1e-5, solver, GroupBy::space, 4), world.context).groups.predicted;
    CHECK(result.groups.predicted <= forced);
  }
}

TEST_CASE("groups are the same, and so is the result, on any number of ranks") {
  World world, alone(MPI_COMM_SELF);
  const Chain chain(blocks);
  for (auto solver : {SolverKind::diagonalise, SolverKind::lanczos})
    for (auto by : {GroupBy::automatic, GroupBy::graph, GroupBy::space}) {
      auto options = options_of(1e-4, solver, by, by == GroupBy::automatic ? 0 : 4);
      options.energy_weighted = true;
      const auto together = density_matrix(placed(chain, world.comm), options, world.context);
      const auto single = density_matrix(placed(chain, alone.comm), options, alone.context);
      CHECK(std::abs(together.energy - single.energy) < 1e-12 * std::abs(single.energy));
      CHECK(std::abs(together.electrons - single.electrons) < 1e-12 * single.electrons);
      CHECK(std::abs(together.mu - single.mu) < 1e-12);
      CHECK(std::abs(together.error.energy_change - single.error.energy_change) < 1e-12);
      CHECK(together.groups.predicted == Approx(single.groups.predicted).epsilon(1e-14));
      double worst = 0.0;
      for (const auto& [a, b] : {std::pair(&together.density, &single.density),
                                 std::pair(&*together.energy_weighted, &*single.energy_weighted)})
        for (int c : a->columns())
          for (int r : a->column(c).rows)
            for (int k = 0; k < chain.size(r) * chain.size(c); ++k)
              worst = std::max(worst, std::abs(a->block(r, c)[k] - b->block(r, c)[k]));
      CHECK(worst < 1e-12);
    }
}
