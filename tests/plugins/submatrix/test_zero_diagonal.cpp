// Blocks of the diagonal that are zero: a basis function whose energy is the origin of energies, as in Hückel's method.
#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/submatrix/blocks/congruence.hpp"
#include "plugins/submatrix/tasks/matrix_input.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/dense_samples.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

/// Pairs of blocks of 1 to 3 functions whose own energies are all zero: bonding and antibonding levels of each pair lie
/// around -1 and 1, and couplings between pairs fall off.
DensePair bipartite(unsigned seed, double overlap) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  DensePair out;
  for (int pair = 0; pair < 12; ++pair) {
    const int size = 1 + static_cast<int>(engine() % 3);
    out.sizes.insert(out.sizes.end(), 2, size);
  }
  std::vector<int> block, place;
  for (std::size_t b = 0; b < out.sizes.size(); ++b)
    for (int i = 0; i < out.sizes[b]; ++i) block.push_back(static_cast<int>(b)), place.push_back(i);
  const auto n = static_cast<std::size_t>(out.n());
  out.h.assign(n * n, 0.0);
  out.s.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    out.s[i * n + i] = 1.0;
    for (std::size_t j = 0; j < i; ++j) {
      if (block[i] == block[j]) continue;
      const bool partners = block[i] / 2 == block[j] / 2;
      const double fall = std::exp(-0.8 * std::abs(block[i] / 2 - block[j] / 2));
      out.h[i * n + j] = out.h[j * n + i] =
          partners ? (place[i] == place[j] ? -1.0 : 0.1 * uniform(engine)) : 0.05 * fall * uniform(engine);
      out.s[i * n + j] = out.s[j * n + i] = overlap * (partners ? 0.3 : fall) * uniform(engine);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a block of zeros on the diagonal keeps its place in its own submatrix") {
  World world;
  for (unsigned seed = 0; seed < 8; ++seed)
    for (double overlap : {0.0, 0.1}) {
      const DensePair pair = bipartite(seed, overlap);
      const double electrons = pair.n();
      const auto levels = pair.levels();
      const double exact = band_energy(levels, pair.n() / 2);
      const MatrixSystem system = pair.system(world.comm, electrons);
      for (const auto& [form, solver] :
           {std::pair(Form::orthogonal, SolverKind::lanczos), std::pair(Form::orthogonal, SolverKind::diagonalise),
            std::pair(Form::local, SolverKind::diagonalise)}) {
        DensityOptions options;
        options.eps = options.eps_overlap = 1e-10;
        options.krylov_tolerance = 1e-9;
        options.form = form;
        options.solver = solver;
        options.electrons = electrons;
        const auto result = density_matrix(system, options, world.context);
        INFO("seed " << seed << ", overlap " << overlap << ", form " << static_cast<int>(form) << ": N "
                     << result.electrons << " of " << electrons << ", E " << result.energy << " of " << exact);
        CHECK(result.electrons == Approx(electrons).epsilon(1e-8));
        CHECK(result.energy == Approx(exact).epsilon(1e-8));
        CHECK(trace(result.density, system.hamiltonian, world.comm) == Approx(exact).epsilon(1e-7));
        CHECK(trace(result.density, system.overlap, world.comm) == Approx(electrons).epsilon(1e-7));
      }
      if (overlap > 0.0) continue;
      DensityOptions options;
      options.orthogonal = true;
      options.eps = 1e-10;
      options.electrons = electrons;
      for (const auto by : {GroupBy::none, GroupBy::graph}) {
        options.groups.by = by;
        options.groups.size = by == GroupBy::none ? 0 : 3;
        const auto result = density_matrix(system, options, world.context);
        CHECK(result.electrons == Approx(electrons).epsilon(1e-8));
        CHECK(result.energy == Approx(exact).epsilon(1e-6));
      }
    }
}

TEST_CASE("filtering and products keep the diagonal") {
  World world;
  const DensePair pair = bipartite(3, 0.0);
  const MatrixSystem system = pair.system(world.comm, pair.n());
  std::int64_t bytes = 0;
  double flops = 0.0;
  const BlockColumns product =
      congruence(system.overlap, system.hamiltonian, system.ranges, world.comm, {1e-12, 0.5, {}}, bytes, flops);
  for (const BlockColumns* matrix : {&product, static_cast<const BlockColumns*>(nullptr)}) {
    const BlockColumns own = matrix ? *matrix : filtered(system.hamiltonian, 0.5);
    for (int c : own.columns()) {
      const double* block = own.block(c, c);
      REQUIRE(block);
      CHECK(block[0] == 0.0);
      const auto rows = own.column(c).rows;
      CHECK(std::is_sorted(rows.begin(), rows.end()));
      CHECK(rows.size() == 2);  // and the partner
    }
  }
}

TEST_CASE("a Matrix Market file without its zeros is whole") {
  const Scratch scratch("submatrix_zero_diagonal");
  World world(MPI_COMM_SELF);
  MatrixInput input;
  input.hamiltonian = scratch.file("butadiene.mtx");
  input.molecule = {1, 1, 1, 1};
  input.blocks = BlockKind::atom;
  // Hückel's butadiene with beta = -0.1 hartree: levels -+0.1 (1 +- sqrt(5)) / 2.
  io::write_file_atomically(
      input.hamiltonian,
      "%%MatrixMarket matrix coordinate real symmetric\n%\n4 4 3\n2 1 -1e-1\n3 2 -1e-1\n4 3 -1e-1\n");
  const MatrixSystem system = read_matrices(input, world.context);
  DensityOptions options;
  options.eps = 1e-12;
  options.electrons = 4.0;
  options.groups = {GroupBy::graph, 4};
  const auto result = density_matrix(system, options, world.context);
  CHECK(result.electrons == Approx(4.0).epsilon(1e-9));
  CHECK(result.energy == Approx(-0.2 * std::sqrt(5.0)).epsilon(1e-9));
}
