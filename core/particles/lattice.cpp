#include "core/particles/lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/counts.hpp"
#include "core/base/key_error.hpp"
#include "core/parallel/memory.hpp"
#include "core/parallel/random.hpp"

namespace cambium {
namespace {

/// Types of the atoms of one cell, and the species they stand for.
std::vector<int> basis_types(const LatticeSpec& spec, std::size_t atoms, std::vector<Species>& species) {
  const bool halves = spec.species.size() == 2 && atoms == 8;  // diamond and rock salt are two fcc lattices
  if (spec.species.size() != 1 && spec.species.size() != atoms && !halves)
    throw KeyError("structure.lattice.species_count", "species",
                   fmt::format("the lattice has {} atom{} per cell but {} species are given: give one for all, or one "
                               "per atom of the cell",
                               atoms, atoms == 1 ? "" : "s", spec.species.size()));
  std::vector<int> types;
  for (std::size_t b = 0; b < atoms; ++b) {
    const std::string& symbol = spec.species[spec.species.size() == 1 ? 0 : halves ? b / 4 : b];
    const auto known =
        std::find_if(species.begin(), species.end(), [&](const Species& s) { return s.symbol == symbol; });
    types.push_back(static_cast<int>(known - species.begin()));
    if (known == species.end()) species.push_back({symbol, 0.0});
  }
  return types;
}

}  // namespace

void LatticeSpec::describe(deck::Describe<LatticeSpec>& d) {
  d("type", &LatticeSpec::type,
    "crystal; conventional cells of 1, 2, 4 and 8 atoms, hcp of 4 in an orthogonal cell, rock_salt "
    "of 8, four of each species")
      .options({{"sc", LatticeType::sc},
                {"bcc", LatticeType::bcc},
                {"fcc", LatticeType::fcc},
                {"diamond", LatticeType::diamond},
                {"hcp", LatticeType::hcp},
                {"rock_salt", LatticeType::rock_salt}});
  d("a", &LatticeSpec::a, "lattice constant").unit("angstrom").positive().example("3.61");
  d("c_over_a", &LatticeSpec::c_over_a, "ratio of the axes, hcp only").positive().def(LatticeSpec().c_over_a);
  d("cells", &LatticeSpec::cells, "conventional cells along x, y and z").at_least(1).def({1, 1, 1});
  d("species", &LatticeSpec::species,
    "one species for all atoms, one for each atom of the conventional cell, or one for each of the two fcc lattices of "
    "diamond and rock_salt ([Na, Cl])")
      .example("[Cu]");
  d("displacement", &LatticeSpec::displacement, "largest random displacement of an atom along each axis")
      .unit("angstrom")
      .non_negative()
      .def(0.0);
}

std::vector<std::array<double, 3>> lattice_basis(LatticeType type) {
  using Basis = std::vector<std::array<double, 3>>;
  const Basis fcc = {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}};
  switch (type) {
    case LatticeType::sc:
      return {{0, 0, 0}};
    case LatticeType::bcc:
      return {{0, 0, 0}, {0.5, 0.5, 0.5}};
    case LatticeType::fcc:
      return fcc;
    case LatticeType::diamond: {
      Basis both = fcc;
      for (const auto& s : fcc) both.push_back({s[0] + 0.25, s[1] + 0.25, s[2] + 0.25});
      return both;
    }
    case LatticeType::rock_salt: {
      Basis both = fcc;
      for (const auto& s : fcc) both.push_back({s[0] < 0.5 ? s[0] + 0.5 : 0.0, s[1], s[2]});
      return both;
    }
    case LatticeType::hcp:
      return {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 1.0 / 6.0, 0.5}, {0, 2.0 / 3.0, 0.5}};
  }
  throw InternalError("a lattice type without basis");
}

std::int64_t atoms_of(const LatticeSpec& spec) {
  const auto [nx, ny, nz] = spec.cells;
  const auto atoms = product_of({std::ssize(lattice_basis(spec.type)), nx, ny, nz});
  if (!atoms)
    throw KeyError("structure.lattice.cells", "cells",
                   fmt::format("the lattice of [{}, {}, {}] cells has more atoms than can be counted; give fewer cells",
                               nx, ny, nz));
  return *atoms;
}

Structure make_lattice(const LatticeSpec& spec, const Comm& comm, std::uint64_t seed) {
  const auto basis = lattice_basis(spec.type);
  const bool hcp = spec.type == LatticeType::hcp;
  const double edge[3] = {spec.a, hcp ? std::sqrt(3.0) * spec.a : spec.a, hcp ? spec.c_over_a * spec.a : spec.a};
  if (!(spec.a > 0.0 && edge[2] > 0.0) || *std::min_element(spec.cells.begin(), spec.cells.end()) < 1)
    throw KeyError(
        "structure.lattice.lengths", "",
        fmt::format("a lattice needs positive lengths and at least one cell along each axis; found a = {} Å, c/a = {}, "
                    "cells [{}, {}, {}]",
                    spec.a, spec.c_over_a, spec.cells[0], spec.cells[1], spec.cells[2]));
  Structure s;
  const auto types = basis_types(spec, basis.size(), s.species);
  const auto [nx, ny, nz] = spec.cells;
  s.box = Box::orthogonal(nx * edge[0], ny * edge[1], nz * edge[2]);
  const std::int64_t atoms = static_cast<std::int64_t>(basis.size());
  s.nglobal = atoms_of(spec);
  const auto [begin, end] = even_share(s.nglobal, comm.rank(), comm.size());
  constexpr double bytes_of_atom = sizeof(std::array<double, 3>) + sizeof(int) + sizeof(std::int64_t);
  require_memory(bytes_of_atom * static_cast<double>(end - begin), fmt::format("{} atoms", s.nglobal),
                 "give fewer 'cells', or use more nodes", comm);
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t cell = n / atoms, b = n % atoms;
    const std::int64_t index[3] = {cell % nx, cell / nx % ny, cell / nx / ny};
    const Random4 random(seed, Stream::lattice_noise, static_cast<std::uint64_t>(n + 1), 0);
    std::array<double, 3> x;
    for (int d = 0; d < 3; ++d) {
      x[d] = (static_cast<double>(index[d]) + basis[b][d]) * edge[d];
      if (spec.displacement > 0.0) x[d] += spec.displacement * (2.0 * random.uniform(d) - 1.0);
    }
    s.x.push_back(x);
    s.type.push_back(types[b]);
    s.tag.push_back(n + 1);
  }
  return s;
}

}  // namespace cambium
