// Two spin channels against the dense eigenproblems of both.
#include <numeric>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/submatrix/density/spin_density.hpp"
#include "plugins/submatrix/tasks/matrix_input.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

constexpr int blocks = 24;
constexpr double splitting = 0.25;

/// A chain whose spin down lies higher by `splitting` times the overlap: the same states, shifted.
MatrixSystem polarised(const Chain& chain, const Comm& comm) {
  MatrixSystem out = chain.system(comm);
  BlockColumns down(out.layout);
  for (int c : out.hamiltonian.columns()) {
    down.start_column(c);
    const BlockColumn h = out.hamiltonian.column(c);
    for (std::size_t e = 0; e < h.rows.size(); ++e) {
      double* block = down.add_block(h.rows[e]);
      const double* s = out.overlap.block(h.rows[e], c);
      for (int k = 0; k < out.layout->size(h.rows[e]) * out.layout->size(c); ++k)
        block[k] = h.block(e)[k] + splitting * s[k];
    }
  }
  down.finish();
  out.hamiltonian_down = std::move(down);
  return out;
}

DensityOptions tight(double electrons) {
  DensityOptions options;
  options.eps = options.eps_overlap = 1e-9;
  options.krylov_tolerance = 1e-9;
  options.electrons = electrons;
  options.energy_weighted = true;
  return options;
}

double trace(const BlockColumns& d, const BlockColumns& m, const Comm& comm) {
  double sum = 0.0;
  for (int c : d.columns()) {
    const BlockColumn column = d.column(c);
    for (std::size_t e = 0; e < column.rows.size(); ++e)
      if (const double* other = m.block(column.rows[e], c))
        for (int k = 0; k < d.layout().size(column.rows[e]) * d.layout().size(c); ++k)
          sum += column.block(e)[k] * other[k];
  }
  return comm.sum(sum);
}

/// The file of a polarised chain: of one cell, or lattice-resolved with one lattice vector.
void write_file(const std::string& path, const Chain& chain, bool lattice) {
  std::vector<int> sizes, molecule, block, place;
  for (int b = 0; b < blocks; ++b) {
    sizes.push_back(chain.size(b));
    molecule.push_back(b);
    for (int i = 0; i < chain.size(b); ++i) {
      block.push_back(b);
      place.push_back(i);
    }
  }
  const auto functions = static_cast<int>(block.size());
  io::write_h5_atomically(path, [&](io::File& file) {
    file.set_attribute("n_electrons", 2.0 * blocks);
    file.write("block_sizes_atom", sizes);
    file.write("molecule_of_atom", molecule);
    if (lattice) file.write("R", io::tensor_of(std::vector<int>{0, 0, 0}.data(), {1, 3}));
    for (const std::string name : {"K", "S", "K_down"}) {
      std::vector<int> indices;
      std::vector<std::int64_t> indptr{0};
      std::vector<double> data;
      for (int r = 0; r < functions; ++r) {
        const auto a = static_cast<std::size_t>(r);
        for (int c = 0; c < functions; ++c) {
          const auto b = static_cast<std::size_t>(c);
          if (std::abs(block[a] - block[b]) > chain.range()) continue;
          const double s = chain.overlap(block[a], place[a], block[b], place[b]),
                       h = chain.hamiltonian(block[a], place[a], block[b], place[b]);
          indices.push_back(c);
          data.push_back(name == "S" ? s : name == "K" ? h : h + splitting * s);
        }
        indptr.push_back(std::ssize(data));
      }
      io::Group group = file.create_group(lattice ? "R_00/" + name : name);
      group.write("data", data);
      group.write("indices", indices);
      group.write("indptr", indptr);
    }
  });
}

double lowest(const std::vector<double>& levels, int count, double shift) {
  return std::accumulate(levels.begin(), levels.begin() + count, 0.0) + count * shift;
}

}  // namespace

TEST_CASE("both channels of a polarised chain, with one mu and with a magnetisation") {
  World world;
  const Chain chain(blocks);
  const auto levels = chain.levels();
  const MatrixSystem system = polarised(chain, world.comm);
  // Dense: all states of both spins, filled from below.
  std::vector<double> all = levels;
  for (double e : levels) all.push_back(e + splitting);
  std::sort(all.begin(), all.end());
  for (auto solver : {SolverKind::lanczos, SolverKind::diagonalise})
    for (auto by : {GroupBy::none, GroupBy::graph}) {
      auto options = tight(2.0 * blocks);
      options.solver = solver;
      options.groups = {by, by == GroupBy::graph ? 4 : 0};
      const auto result = spin_density(system, options, std::nullopt, world.context);
      REQUIRE(result.together);
      CHECK(result.energy() == Approx(std::accumulate(all.begin(), all.begin() + 2 * blocks, 0.0)).epsilon(1e-9));
      CHECK(result.electrons() == Approx(2.0 * blocks).epsilon(1e-9));
      CHECK(result.channel[0].mu > all[2 * blocks - 1]);
      CHECK(result.channel[0].mu < all[2 * blocks]);
      const auto occupied = std::lower_bound(levels.begin(), levels.end(), result.channel[0].mu) - levels.begin();
      CHECK(result.magnetisation() == Approx(static_cast<double>(2 * occupied - 2 * blocks)).margin(1e-6));
      const BlockColumns* h[] = {&system.hamiltonian, &*system.hamiltonian_down};
      for (std::size_t s = 0; s < 2; ++s) {
        const auto& channel = result.channel[s];
        CHECK(channel.electrons == Approx(trace(channel.density, system.overlap, world.comm)).epsilon(1e-7));
        CHECK(channel.energy == Approx(trace(channel.density, *h[s], world.comm)).epsilon(1e-7));
        CHECK(channel.energy == Approx(trace(*channel.energy_weighted, system.overlap, world.comm)).epsilon(1e-7));
      }
    }
  for (int m : {0, 4, -6}) {
    // Gaps inside the bands of the chain are narrow; a little temperature fills both sides alike.
    auto options = tight(2.0 * blocks);
    options.kt = m == 0 ? 0.0 : 1e-3;
    options.solver = m == 0 ? SolverKind::lanczos : SolverKind::diagonalise;
    const auto result = spin_density(system, options, m, world.context);
    REQUIRE(!result.together);
    CHECK(result.magnetisation() == Approx(m).margin(1e-6));
    CHECK(result.electrons() == Approx(2.0 * blocks).epsilon(1e-9));
    if (m != 0) continue;
    CHECK(result.energy() == Approx(lowest(levels, blocks, 0.0) + lowest(levels, blocks, splitting)).epsilon(1e-9));
    CHECK(result.channel[1].mu - result.channel[0].mu == Approx(splitting).epsilon(1e-6));
    CHECK(result.channel[0].energy == Approx(lowest(levels, blocks, 0.0)).epsilon(1e-9));
  }
}

TEST_CASE("equal channels are the answer without spin, and any number of ranks gives the same") {
  World world, alone(MPI_COMM_SELF);
  const Chain chain(blocks);
  auto options = tight(2.0 * blocks);
  options.eps = options.eps_overlap = 1e-5;
  MatrixSystem plain = chain.system(world.comm);
  const auto once = density_matrix(plain, options, world.context);
  plain.hamiltonian_down = plain.hamiltonian;
  for (bool own : {false, true}) {
    const auto twice = spin_density(plain, options, own ? std::optional<double>(0.0) : std::nullopt, world.context);
    CHECK(twice.energy() == Approx(once.energy).epsilon(1e-9));
    CHECK(twice.channel[0].mu == Approx(once.mu).margin(1e-4));
    CHECK(twice.magnetisation() == Approx(0.0).margin(1e-9));
  }
  const auto together = spin_density(polarised(chain, world.comm), options, std::nullopt, world.context);
  const auto single = spin_density(polarised(chain, alone.comm), options, std::nullopt, alone.context);
  double worst = 0.0;
  for (std::size_t s = 0; s < 2; ++s) {
    CHECK(std::abs(together.channel[s].energy - single.channel[s].energy) < 1e-12 * std::abs(single.channel[s].energy));
    CHECK(std::abs(together.channel[s].mu - single.channel[s].mu) < 1e-12);
    const auto &a = together.channel[s].density, &b = single.channel[s].density;
    for (int c : a.columns())
      for (int r : a.column(c).rows)
        for (int k = 0; k < chain.size(r) * chain.size(c); ++k)
          worst = std::max(worst, std::abs(a.block(r, c)[k] - b.block(r, c)[k]));
  }
  CHECK(worst < 1e-12);
}

TEST_CASE("K_down of an HDF5 file is the Hamiltonian of spin down") {
  World world;
  const Chain chain(blocks);
  const auto options = tight(2.0 * blocks);
  const auto wanted = spin_density(polarised(chain, world.comm), options, 0.0, world.context);
  const Scratch scratch("submatrix_spin");
  for (bool lattice : {false, true}) {
    MatrixInput input;
    input.file = scratch.file("spin.h5");
    write_file(input.file, chain, lattice);  // every rank has a folder and reads the cell
    const MatrixSystem system = read_matrices(input, world.context);
    REQUIRE(system.hamiltonian_down);
    CHECK(system.electrons == 2.0 * blocks);
    const auto found = spin_density(system, options, 0.0, world.context);
    for (std::size_t s = 0; s < 2; ++s) {
      CHECK(found.channel[s].energy == Approx(wanted.channel[s].energy).epsilon(1e-10));
      CHECK(found.channel[s].mu == Approx(wanted.channel[s].mu).margin(1e-8));
    }
    CHECK(found.channel[1].energy - found.channel[0].energy == Approx(splitting * blocks).epsilon(1e-8));
  }
}
