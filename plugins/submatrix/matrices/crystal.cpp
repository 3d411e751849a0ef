#include "plugins/submatrix/matrices/crystal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "core/particles/elements.hpp"
#include "plugins/submatrix/matrices/hopping.hpp"
#include "plugins/submatrix/matrices/regions.hpp"

namespace cambium::submatrix {

void CrystalInput::describe(deck::Describe<CrystalInput>& d) {
  d("lattice", &CrystalInput::lattice, "crystal of C or Si; a new random displacement is drawn for every frame");
  d("parameters", &CrystalInput::parameters,
    "published set: xu (C), bowler or goodwin (Si); default: xu for C, bowler for Si")
      .options({"xu", "bowler", "goodwin"});
  d("strain", &CrystalInput::strain, "largest absolute value of each component of a random symmetric strain")
      .range(0.0, 0.3)
      .def(0.0);
  d("localisation_radius", &CrystalInput::reach,
    "localisation radius: atoms within this distance of an atom form its submatrix, cut bonds are saturated; 0: all "
    "atoms")
      .formerly("reach")
      .unit("angstrom")
      .non_negative()
      .def(0.0);
  d("frame", &CrystalInput::frame, "index of the random configuration").at_least(0).def(0);
}

namespace {

constexpr auto strain_stream = static_cast<Stream>(45);  // this plugin's own
constexpr int electrons_per_atom = 4;

struct Crystal {
  Box box;
  std::string symbol;
  std::vector<std::array<double, 3>> x;
};

/// Cell and positions mapped by x -> x (1 + e), e symmetric, and turned so that the cell is lower triangular.
void strain(Crystal& crystal, double most, std::uint64_t seed, std::uint64_t frame) {
  const Random4 a(seed, strain_stream, frame, 0), b(seed, strain_stream, frame, 1);
  const auto within = [most](double u) { return most * (2.0 * u - 1.0); };
  const double xy = within(a.uniform(3)), xz = within(b.uniform(0)), yz = within(b.uniform(1));
  const double e[3][3] = {
      {within(a.uniform(0)), xy, xz}, {xy, within(a.uniform(1)), yz}, {xz, yz, within(a.uniform(2))}};
  const auto map = [&e](const double* x, double* y) {
    for (int k = 0; k < 3; ++k) y[k] = x[k] + x[0] * e[0][k] + x[1] * e[1][k] + x[2] * e[2][k];
  };
  double rows[3][3], q[3][3];
  for (int r = 0; r < 3; ++r) map(crystal.box.h[r], rows[r]);
  crystal.box = Box::from_vectors(rows, q);
  for (auto& x : crystal.x) {
    double moved[3];
    map(x.data(), moved);
    for (std::size_t k = 0; k < 3; ++k) x[k] = moved[0] * q[0][k] + moved[1] * q[1][k] + moved[2] * q[2][k];
  }
}

Crystal make_crystal(const CrystalInput& input, std::uint64_t seed, std::uint64_t frame) {
  LatticeSpec perfect = input.lattice;
  perfect.displacement = 0.0;
  const Comm alone(MPI_COMM_SELF);
  const Structure lattice = make_lattice(perfect, alone, seed);
  if (lattice.species.size() != 1)
    throw InputError(
        fmt::format("tight_binding is for one element, C or Si; the structure has {} species", lattice.species.size()));
  Crystal out{lattice.box, lattice.species[0].symbol, lattice.x};
  for (std::size_t k = 0; k < out.x.size(); ++k) {
    const Random4 random(seed, Stream::lattice_noise, static_cast<std::uint64_t>(lattice.tag[k]), frame);
    for (int c = 0; c < 3; ++c) out.x[k][c] += input.lattice.displacement * (2.0 * random.uniform(c) - 1.0);
  }
  if (input.strain > 0.0) strain(out, input.strain, seed, frame);
  return out;
}

/// Block column of the Hamiltonian (eV) at the rows of the atom's submatrix.
void add_column(const TightBindingModel& model, const AllAtoms& atoms, int column, const std::vector<int>& rows,
                BlockColumns& out) {
  double part[16], gradient[48];
  out.start_column(column);
  for (int row : rows) {
    double* block = out.add_block(row);
    if (row == column) {
      block[0] = model.e_s;
      for (int a = 1; a < 4; ++a) block[5 * a] = model.e_p;
    } else {
      const auto d =
          atoms.between(&atoms.x[3 * static_cast<std::size_t>(row)], &atoms.x[3 * static_cast<std::size_t>(column)]);
      if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] >= model.cutoff * model.cutoff) continue;
      hopping_block(model, d.data(), part, gradient);
      std::copy_n(part, 16, block);
    }
    for (int k = 0; k < 16; ++k) block[k] /= ev_per_hartree;
  }
}

}  // namespace

MatrixSystem crystal_matrices(const CrystalInput& input, std::int64_t frame, std::uint64_t seed, const Comm& comm) {
  const Crystal crystal = make_crystal(input, seed, static_cast<std::uint64_t>(frame));
  const TightBindingModel model = tight_binding_model(crystal.symbol, input.parameters.value_or(""));
  const auto heights = crystal.box.heights();
  if (const double least = *std::min_element(heights.begin(), heights.end()); least < 2.0 * model.cutoff)
    throw InputError(
        fmt::format("the crystal's cell is {:.2f} Å between two of its faces; tight_binding needs twice its cut-off of "
                    "{} Å: more lattice.cells",
                    least, model.cutoff));
  if (input.reach <= 0.0 && 4 * crystal.x.size() > 16384)
    throw InputError(
        fmt::format("one dense problem of {} functions is too large; give a reach (for example 8 angstrom), so that "
                    "submatrices are taken",
                    4 * crystal.x.size()));
  const AllAtoms atoms(crystal.box, crystal.x, comm);
  Regions regions;
  regions.connect(atoms, longest_bond * model.r0);
  const Regions::Lists rows =
      Regions::within(atoms, comm, input.reach > 0.0 ? std::max(input.reach, model.cutoff) : 1e9);
  auto layout = std::make_shared<const BlockLayout>(std::vector<int>(crystal.x.size(), 4));
  MatrixSystem out{layout,
                   atoms.ranges,
                   BlockColumns(layout),
                   BlockColumns(layout),
                   atoms.count(),
                   static_cast<double>(electrons_per_atom) * atoms.count(),
                   {{{atomic_number(crystal.symbol), 4}}},
                   {},
                   "",
                   {}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    add_column(model, atoms, atoms.ranges.begin(comm.rank()) + static_cast<int>(i), rows[i], out.hamiltonian);
  out.hamiltonian.finish();
  out.overlap.finish();
  out.centres = crystal.x;
  out.bonds = std::make_shared<const BondGraph>(regions.bonds(atoms));
  const auto& n = input.lattice.cells;
  out.name = fmt::format("tight binding {} {}x{}x{}, frame {}", crystal.symbol, n[0], n[1], n[2], frame);
  return out;
}

}  // namespace cambium::submatrix
