#include "plugins/submatrix/dftb/dispersion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium::submatrix {

void LennardJonesAtom::describe(deck::Describe<LennardJonesAtom>& d) {
  d("distance", &LennardJonesAtom::distance, "distance of the minimum of the energy of two such atoms")
      .unit("bohr")
      .positive()
      .less_than(20.0)
      .example("2.886 angstrom");
  d("energy", &LennardJonesAtom::energy, "depth of that minimum")
      .unit("hartree")
      .non_negative()
      .less_than(0.1)
      .example("0.044 kcal/mol");
}

void SlaterKirkwoodAtom::describe(deck::Describe<SlaterKirkwoodAtom>& d) {
  d("polarisability", &SlaterKirkwoodAtom::polarisability, "polarisability of the atom")
      .unit("bohr^3")
      .non_negative()
      .less_than(1e4)
      .example("0.386 angstrom^3");
  d("radius", &SlaterKirkwoodAtom::radius, "van der Waals radius, from which on there is dispersion")
      .unit("bohr")
      .positive()
      .less_than(20.0)
      .example("3.5 angstrom");
  d("electrons", &SlaterKirkwoodAtom::electrons, "effective number of electrons that are polarised")
      .positive()
      .less_than(200.0)
      .example("0.8");
}

void DispersionKeys::describe(deck::Describe<DispersionKeys>& d) {
  d("lennard_jones", &DispersionKeys::lennard_jones,
    "Lennard-Jones energies of every species, such as those of the universal force field (UFF)");
  d("slater_kirkwood", &DispersionKeys::slater_kirkwood,
    "Slater-Kirkwood dispersion by the polarisability, the radius and the number of electrons of every species");
  d.check([](const DispersionKeys& k) -> std::string {
    if (k.lennard_jones && k.slater_kirkwood) return "dispersion has lennard_jones and slater_kirkwood; leave one out";
    if (!k.lennard_jones && !k.slater_kirkwood)
      return "dispersion has no parameters; give lennard_jones or slater_kirkwood";
    return {};
  });
}

namespace {

using Element = DftbParameters::Element;
constexpr double negligible = 1e-13;  ///< hartree

/// The parameters of each element.
template <class Atom>
std::vector<Atom> of_elements(const std::map<std::string, Atom>& given, const char* form,
                              const std::vector<Element>& elements) {
  for (const auto& [name, atom] : given)
    if (std::none_of(elements.begin(), elements.end(), [&](const Element& e) { return e.symbol == name; }))
      throw KeyError(
          "dftb.dispersion.species", fmt::format("dispersion.{}", form),
          fmt::format("dispersion.{} names {}, which the structure does not have; leave it out", form, name));
  std::vector<Atom> out;
  for (const Element& element : elements) {
    const auto found = given.find(element.symbol);
    if (found == given.end())
      throw KeyError("dftb.dispersion.missing", fmt::format("dispersion.{}", form),
                     fmt::format("dispersion.{} has no parameters of {}; give those of every species of the structure",
                                 form, element.symbol));
    out.push_back(found->second);
  }
  return out;
}

DispersionPair pair_of(const LennardJonesAtom& a, const LennardJonesAtom& b) {
  DispersionPair out;
  out.depth = std::sqrt(a.energy * b.energy);
  out.distance = std::sqrt(a.distance * b.distance);
  out.c6 = 2.0 * out.depth * std::pow(out.distance, 6);
  out.reach = out.distance * std::max(1.0, std::pow(out.depth / negligible, 1.0 / 12.0));
  return out;
}

DispersionPair pair_of(const SlaterKirkwoodAtom& a, const SlaterKirkwoodAtom& b) {
  constexpr double strength = 3.0;  // d of the damping
  DispersionPair out;
  out.lennard_jones = false;
  if (a.polarisability == 0.0 || b.polarisability == 0.0) return out;
  out.c6 = 1.5 * a.polarisability * b.polarisability /
           (std::sqrt(a.polarisability / a.electrons) + std::sqrt(b.polarisability / b.electrons));
  const double r0 = (std::pow(a.radius, 3) + std::pow(b.radius, 3)) / (a.radius * a.radius + b.radius * b.radius);
  out.damping = strength / std::pow(r0, 7);
  out.reach = std::pow(40.0 / out.damping, 1.0 / 7.0);  // exp(-40)
  return out;
}

}  // namespace

DispersionPair::Value DispersionPair::at(double r) const {
  const double r6 = std::pow(r, 6);
  if (!lennard_jones) {
    const double x = damping * r6 * r, e = std::exp(-x), f = 1.0 - e;
    const double f3 = f * f * f;
    return {-c6 * f3 * f / r6, -c6 * f3 * (28.0 * x * e - 6.0 * f) / (r6 * r)};
  }
  const double x = distance / r, x6 = std::pow(x, 6);
  if (x6 < 2.0) return {depth * (x6 - 2.0) * x6, 12.0 * depth * (1.0 - x6) * x6 / r};
  // Value and two derivatives of the Lennard-Jones energy where it is zero.
  const double u5 = -std::pow(2.0, 5.0 / 6.0) * 672.0 / 25.0 / std::pow(x, 5),
               u10 = std::pow(2.0, 2.0 / 3.0) * 552.0 / 25.0 / std::pow(x, 10);
  return {depth * (396.0 / 25.0 + u5 + u10), depth * (5.0 * u5 + 10.0 * u10) / r};
}

std::vector<DispersionPair> dispersion_pairs(const DispersionKeys& keys, const std::vector<Element>& elements) {
  std::vector<DispersionPair> out;
  const auto all = [&](const auto& atoms) {
    for (const auto& a : atoms)
      for (const auto& b : atoms) out.push_back(pair_of(a, b));
  };
  if (keys.lennard_jones)
    all(of_elements(*keys.lennard_jones, "lennard_jones", elements));
  else
    all(of_elements(*keys.slater_kirkwood, "slater_kirkwood", elements));
  return out;
}

Dispersion::Dispersion(const DftbAtoms& atoms, std::vector<DispersionPair> pairs, const ColumnRanges& ranges, int rank)
    : atoms_(atoms), pair_(std::move(pairs)),
      kinds_(static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(pair_.size()))))),
      begin_(ranges.begin(rank)), end_(ranges.end(rank)), rank_(rank) {
  if (!atoms.periodic) return;
  std::vector<double> c6;
  for (const auto& pair : pair_) {
    c6.push_back(pair.c6);
    cutoff_ = std::max(cutoff_, pair.reach);
  }
  sum_.emplace(atoms, std::move(c6));
  cutoff_ = std::max(cutoff_, sum_->cutoff());
  reach_ = images_within(atoms, cutoff_);
}

/// Half of the energy of a pair, which is seen from both ends, and the force on its first atom.
double Dispersion::add_pair(int a, int b, const std::array<int, 3>& image, double* force, double* virial) const {
  const auto d = atoms_.vector(a, b, image);
  const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  if (sum_ && r > cutoff_) return 0.0;
  const DispersionPair& kind = pair(a, b);
  DispersionPair::Value u;
  if (!sum_ || r < kind.reach) u = kind.at(r);
  if (sum_) {
    const double r6 = std::pow(r, 6);
    if (r < kind.reach) {
      u.energy += kind.c6 / r6;
      u.slope -= 6.0 * kind.c6 / (r6 * r);
    }
    const auto near = sum_->near(r);
    u.energy -= kind.c6 * near.energy;
    u.slope -= kind.c6 * near.slope;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const double pull = u.slope * d[k] / r;
    force[k] += pull;
    for (std::size_t l = 0; l < 3; ++l) virial[3 * k + l] -= 0.5 * pull * d[l];
  }
  return 0.5 * u.energy;
}

double Dispersion::add(double* force, double* virial) const {
  double energy = 0.0;
  for (int a = begin_; a < end_; ++a)
    for (int b = 0; b < atoms_.count(); ++b)
      for (int i = -reach_[0]; i <= reach_[0]; ++i)
        for (int j = -reach_[1]; j <= reach_[1]; ++j)
          for (int k = -reach_[2]; k <= reach_[2]; ++k) {
            if (a == b && i == 0 && j == 0 && k == 0) continue;
            energy += add_pair(a, b, {i, j, k}, force + 3 * (a - begin_), virial);
          }
  if (!sum_) return energy;
  sum_->add_forces(begin_, end_, force);
  return rank_ == 0 ? energy + sum_->add_virial(virial) : energy;
}

}  // namespace cambium::submatrix
