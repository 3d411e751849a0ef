// Submatrices of unequal cost over ranks, by counted operations; even blocks of equal count must fail what is held
// here.
#include "plugins/submatrix/submatrices/submatrix_cost.hpp"
#include "plugins/submatrix/submatrices/work_shares.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

constexpr int blocks = 240;

/// Blocks along a line, each with a length over which its couplings fall off and a number of functions.
struct Uneven {
  std::string name;
  double (*reach)(int block);
  int (*functions)(int block);

  double coupling(int a, int i, int b, int j) const {
    if (a == b) return i == j ? (i == 0 ? -0.8 : 0.5 + 0.1 * i) : 0.02;
    const double fall = (std::abs(a - b) - 1) / std::min(reach(a), reach(b));
    return 0.01 * std::exp(-fall) * std::cos(1.0 + i + j + 0.7 * (a + b));
  }
  MatrixSystem system(const Comm& comm) const {
    std::vector<int> sizes;
    for (int b = 0; b < blocks; ++b) sizes.push_back(functions(b));
    auto layout = std::make_shared<const BlockLayout>(sizes);
    const std::vector<double> same(blocks, 1.0);
    MatrixSystem out{layout,
                     ColumnRanges::balanced(same, comm.size()),
                     BlockColumns(layout),
                     BlockColumns(layout),
                     blocks,
                     2.0 * blocks,
                     {},
                     {},
                     name,
                     {}};
    for (int b = out.ranges.begin(comm.rank()); b < out.ranges.end(comm.rank()); ++b) {
      out.hamiltonian.start_column(b);
      for (int a = std::max(0, b - 60); a <= std::min(blocks - 1, b + 60); ++a) {
        double* h = out.hamiltonian.add_block(a);
        for (int i = 0; i < sizes[a]; ++i)
          for (int j = 0; j < sizes[b]; ++j) h[i * sizes[b] + j] = coupling(a, i, b, j);
      }
    }
    out.hamiltonian.finish();
    out.overlap.finish();
    return out;
  }
};

/// A slab beside thin vapour, two phases whose molecules differ, and couplings that reach further from end to end.
/// Small ones for solvers that work on all of a submatrix.
const Uneven large[] = {
    {"slab and vapour", [](int b) { return b < blocks / 4 ? 3.0 : 0.8; }, [](int) { return 6; }},
    {"mixture", [](int b) { return b < 2 * blocks / 3 ? 0.9 : 1.6; }, [](int b) { return b < 2 * blocks / 3 ? 6 : 9; }},
    {"gradient", [](int b) { return 0.6 + 2.4 * b / blocks; }, [](int b) { return 6 + b % 2; }},
};
const Uneven small[] = {
    {"slab and vapour", [](int b) { return b < blocks / 4 ? 1.6 : 0.3; }, [](int) { return 2; }},
    {"mixture", [](int b) { return b < 2 * blocks / 3 ? 0.6 : 1.0; }, [](int b) { return b < 2 * blocks / 3 ? 2 : 4; }},
    {"gradient", [](int b) { return 0.3 + 1.5 * b / blocks; }, [](int b) { return 2 + b % 2; }},
};

DensityOptions options_of(SolverKind solver) {
  DensityOptions options;
  options.orthogonal = true;
  options.electrons = 2.0 * blocks;
  options.solver = solver;
  if (solver == SolverKind::newton_schulz) options.mu = -0.15;
  options.sample = 0;
  options.eps = 1e-5;
  options.energy_weighted = true;
  return options;
}

/// Mean of the ranks over the largest.
double efficiency(double own, const Comm& comm) { return comm.sum(own) / (comm.size() * comm.max(own)); }

/// The same by the model where each rank has as many columns as any other.
double of_even_blocks(const std::vector<int>& dimensions, const Uneven& which, const SubmatrixCost& cost, int ranks) {
  double all = 0.0, most = 0.0;
  for (int r = 0; r < ranks; ++r) {
    double sum = 0.0;
    for (int b = blocks * r / ranks; b < blocks * (r + 1) / ranks; ++b) sum += cost(dimensions[b], which.functions(b));
    all += sum;
    most = std::max(most, sum);
  }
  return all / (ranks * most);
}

double furthest(const BlockColumns& a, const BlockColumns& b) {
  double worst = 0.0;
  for (int c : a.columns())
    for (int r : a.column(c).rows)
      for (int k = 0; k < a.layout().size(r) * a.layout().size(c); ++k)
        worst = std::max(worst, std::abs(a.block(r, c)[k] - b.block(r, c)[k]));
  return worst;
}

}  // namespace

TEST_CASE("unequal submatrices keep all ranks busy, by counted operations, and give what one rank gives") {
  World world, alone(MPI_COMM_SELF);
  const int ranks = world.comm.size();
  for (auto solver : {SolverKind::lanczos, SolverKind::newton_schulz})
    for (const auto& which : solver == SolverKind::lanczos ? large : small) {
      const DensityOptions options = options_of(solver);
      const MatrixSystem system = which.system(world.comm);
      const auto together = density_matrix(system, options, world.context),
                 single = density_matrix(which.system(alone.comm), options, alone.context);
      INFO(which.name << ", solver " << static_cast<int>(solver) << ", " << ranks << " ranks, rank "
                      << world.comm.rank());
      CHECK(efficiency(together.column_flops, world.comm) >= 0.9);
      if (ranks > 1) CHECK(of_even_blocks(single.dimensions, which, submatrix_cost(options), ranks) < 0.8);
      CHECK(world.comm.sum(together.column_flops) == Approx(single.column_flops).epsilon(1e-12));
      CHECK(std::abs(together.energy - single.energy) < 1e-12 * std::abs(single.energy));
      CHECK(std::abs(together.electrons - single.electrons) < 1e-12 * single.electrons);
      CHECK(furthest(together.density, single.density) < 1e-12);
      CHECK(furthest(*together.energy_weighted, *single.energy_weighted) < 1e-12);
      REQUIRE(together.density.columns().size() ==
              static_cast<std::size_t>(system.ranges.end(world.comm.rank()) - system.ranges.begin(world.comm.rank())));
      for (std::size_t k = 0; k < together.dimensions.size(); ++k)
        CHECK(together.dimensions[k] == single.dimensions[together.density.columns()[k]]);
    }
}

TEST_CASE("equal submatrices stay with their owners and nothing is sent back") {
  World world;
  const Uneven even{"even", [](int) { return 0.5; }, [](int) { return 2; }};
  const std::vector<double> same(even.system(world.comm).hamiltonian.columns().size(), 3.0);
  const ColumnRanges owned = even.system(world.comm).ranges;
  const WorkShares kept = work_shares(same, owned, world.comm);
  CHECK(kept.ranges.first == owned.first);
  CHECK(kept.owned == Approx(1.0));
}

TEST_CASE("columns are dealt by cost wherever the dear ones lie") {
  World world;
  const int ranks = world.comm.size(), columns = 60 * ranks;
  const ColumnRanges owned = ColumnRanges::balanced(std::vector<double>(columns, 1.0), ranks);
  for (int dear : {0, columns / 2, columns - 30}) {
    std::vector<double> all, own;
    for (int c = 0; c < columns; ++c) all.push_back(c >= dear && c < dear + 30 ? 20.0 : 1.0);
    for (int c = owned.begin(world.comm.rank()); c < owned.end(world.comm.rank()); ++c) own.push_back(all[c]);
    const WorkShares shares = work_shares(own, owned, world.comm);
    INFO("dear columns from " << dear << " on " << ranks << " ranks");
    if (ranks > 1 && shares.owned < good_efficiency)
      CHECK(shares.ranges.first == ColumnRanges::balanced(all, ranks).first);
    CHECK(shares.dealt >= 0.9);
    CHECK(shares.ranges.first.front() == 0);
    CHECK(shares.ranges.first.back() == columns);
  }
  // What costs nothing needs no dealing, and one dear column cannot be cut.
  CHECK(work_shares({}, ColumnRanges{std::vector<int>(static_cast<std::size_t>(ranks) + 1, 0)}, world.comm).dealt ==
        1.0);
}
