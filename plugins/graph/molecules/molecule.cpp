#include "plugins/graph/molecules/molecule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/particles/elements.hpp"
#include "plugins/graph/molecules/pairs.hpp"

namespace cambium::graph {

namespace {

constexpr double least_distance = 0.3;  ///< Å

void require_atoms(const Molecule& m, const std::string& place) {
  for (std::int64_t a = 0; a < m.atoms(); ++a) {
    if (element_symbol(m.species[a]).empty())
      throw InputError(
          fmt::format("{}: atom {} has the atomic number {}, which no element has", place, a, m.species[a]));
    for (int k = 0; k < 3; ++k) {
      if (!std::isfinite(m.position[3 * a + k]))
        throw InputError(fmt::format("{}: the position of atom {} is not finite; leave the molecule out", place, a));
      if (!m.force.empty() && !std::isfinite(m.force[3 * a + k]))
        throw InputError(fmt::format("{}: the force on atom {} is not finite; leave the molecule out", place, a));
    }
  }
}

void require_cell(const Molecule& m, const std::string& place) {
  const double height = smallest_height(m.cell);
  if (!(height >= least_distance))  // NaN, too
    throw InputError(fmt::format("{}: its periodic cell is {:.3g} Å high, smaller than any atom; correct the lattice",
                                 place, height));
}

void require_distances(const Molecule& m, const std::string& place) {
  MoleculeView view;
  view.species = m.species;
  view.position = m.position;
  view.cell = m.cell;
  AtomPairs near;
  add_pairs(view, least_distance, 0, near);
  if (near.first.empty()) return;
  const auto a = near.first[0], b = near.second[0];
  double square = 0.0;
  for (int k = 0; k < 3; ++k) square += std::pow(m.position[3 * a + k] - m.position[3 * b + k] - near.shift[k], 2);
  throw InputError(
      fmt::format("{}: atoms {} and {} are {:.3g} Å apart, nearer than any two nuclei; positions are in Å: convert "
                  "them, or leave the molecule out",
                  place, a, b, std::sqrt(square)));
}

}  // namespace

void require_sound(const Molecule& m, const std::string& place) {
  if (m.atoms() == 0) throw InputError(fmt::format("{} has no atoms; leave it out", place));
  if (!std::isfinite(m.energy))
    throw InputError(fmt::format("{}: its energy is not finite; leave the molecule out", place));
  require_atoms(m, place);
  require_cell(m, place);
  require_distances(m, place);
  for (std::size_t b = 0; b + 2 < m.bond.size(); b += 3) {
    const auto [low, high] = std::minmax(m.bond[b], m.bond[b + 1]);
    if (low < 0 || high >= m.atoms() || low == high)
      throw InputError(fmt::format("{}: bond {} joins the atoms {} and {}; it has atoms 0 to {}", place, b / 3,
                                   m.bond[b], m.bond[b + 1], m.atoms() - 1));
  }
}

}  // namespace cambium::graph
