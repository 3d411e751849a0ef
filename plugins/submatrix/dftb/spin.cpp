#include "plugins/submatrix/dftb/spin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium::submatrix {

void SpinKeys::describe(deck::Describe<SpinKeys>& d) {
  d("unpaired_electrons", &SpinKeys::unpaired,
    "electrons of spin up less those of spin down: fixed, each spin with a Fermi level of its own; with relax: true of "
    "the first cycle only")
      .def(0.0);
  d("relax", &SpinKeys::relax, "true: one Fermi level for both spins, which decides how many electrons are unpaired")
      .def(false);
  d("constants", &SpinKeys::constants,
    "spin constants W of every species by shells s, p, d, such as {H: [[-0.072]], C: [[-0.031, -0.025], [-0.025, "
    "-0.023]]}; one value, [[W]], is for all shells")
      .unit("hartree");
  d("initial_spins", &SpinKeys::initial,
    "electrons of spin up less those of spin down of an atom of each species in the first cycle, such as {Fe: 2}; "
    "default: unpaired_electrons in proportion to the electrons of neutral atoms")
      .def({});
  d("initial_atom_spins", &SpinKeys::initial_atoms,
    "the same of every atom, in the order of the structure, instead of initial_spins")
      .def({});
  d.check([](const SpinKeys& k) -> std::string {
    if (!k.initial.empty() && !k.initial_atoms.empty())
      return "spin has initial_spins and initial_atom_spins; leave one of them out";
    if (k.relax && k.unpaired == 0.0 && k.initial.empty() && k.initial_atoms.empty())
      return "spin.relax begins without a spin and would stay there; give unpaired_electrons, initial_spins or "
             "initial_atom_spins for the first cycle";
    return {};
  });
}

namespace {

using Element = DftbParameters::Element;

void require_known(const std::map<std::string, double>& initial, const std::vector<Element>& elements) {
  for (const auto& [name, value] : initial)
    if (std::none_of(elements.begin(), elements.end(), [&](const Element& e) { return e.symbol == name; }))
      throw KeyError("dftb.spin.initial_spins.species", "spin.initial_spins",
                     fmt::format("spin.initial_spins names {}, which the structure does not have; leave it out", name));
}

SpinConstants constants_of(const Element& element, const std::vector<std::vector<double>>& given) {
  const auto shells = static_cast<std::size_t>(element.highest) + 1;
  const bool one = given.size() == 1 && given[0].size() == 1;
  const bool square = given.size() == shells &&
                      std::all_of(given.begin(), given.end(), [&](const auto& row) { return row.size() == shells; });
  if (!one && !square)
    throw KeyError(
        "dftb.spin.constants.shape", "spin.constants",
        fmt::format("spin.constants of {} has {} rows; expected {} of {} values each, for its shells {}, or [[W]]",
                    element.symbol, given.size(), shells, shells, std::string("spd").substr(0, shells)));
  constexpr double largest = 1.0;
  SpinConstants out{};
  for (std::size_t k = 0; k < shells; ++k)
    for (std::size_t l = 0; l < shells; ++l) {
      const double w = out[k][l] = one ? given[0][0] : given[k][l];
      if (!(std::abs(w) <= largest))
        throw KeyError("dftb.spin.constants.range", "spin.constants",
                       fmt::format("spin.constants of {} has {}; expected hartree, at most {} in size. Is it in eV?",
                                   element.symbol, w, largest));
      if (!one && given[k][l] != given[l][k])
        throw KeyError("dftb.spin.constants.symmetry", "spin.constants",
                       fmt::format("spin.constants of {} has {} for {}{} and {} for {}{}; they are one constant",
                                   element.symbol, given[k][l], "spd"[k], "spd"[l], given[l][k], "spd"[l], "spd"[k]));
    }
  return out;
}

}  // namespace

std::vector<SpinConstants> spin_constants(const SpinKeys& keys, const std::vector<Element>& elements) {
  std::vector<SpinConstants> out;
  for (const Element& element : elements) {
    const auto found = keys.constants.find(element.symbol);
    if (found == keys.constants.end())
      throw KeyError(
          "dftb.spin.constants.missing", "spin.constants",
          fmt::format("spin.constants has none for {}; give those of every species of the structure", element.symbol));
    out.push_back(constants_of(element, found->second));
  }
  require_known(keys.initial, elements);
  return out;
}

std::vector<double> initial_spins(const SpinKeys& keys, const DftbAtoms& atoms, const std::vector<Element>& elements) {
  const auto count = static_cast<std::size_t>(atoms.count());
  if (!keys.initial_atoms.empty() && keys.initial_atoms.size() != count)
    throw KeyError("dftb.spin.initial_atom_spins.count", "spin.initial_atom_spins",
                   fmt::format("spin.initial_atom_spins has {} values, but there are {} atoms; give one for each",
                               keys.initial_atoms.size(), count));
  double electrons = 0.0;
  for (const int type : atoms.type) electrons += elements[static_cast<std::size_t>(type)].valence();
  std::vector<double> out(most_shells * count, 0.0);
  for (std::size_t a = 0; a < count; ++a) {
    const Element& element = elements[static_cast<std::size_t>(atoms.type[a])];
    const double valence = element.valence();
    double spin = electrons > 0.0 ? keys.unpaired * valence / electrons : 0.0;
    if (!keys.initial.empty()) {
      const auto found = keys.initial.find(element.symbol);
      spin = found == keys.initial.end() ? 0.0 : found->second;
    } else if (!keys.initial_atoms.empty()) {
      spin = keys.initial_atoms[a];
    }
    if (!(std::abs(spin) <= element.functions()))
      throw KeyError("dftb.spin.initial_spins.range",
                     keys.initial_atoms.empty() ? "spin.initial_spins" : "spin.initial_atom_spins",
                     fmt::format("the first spin of atom {} ({}) is {}, but its {} functions hold one electron of each "
                                 "spin; choose a smaller one",
                                 atoms.tag[a], element.symbol, spin, element.functions()));
    // Where the neutral atom has no electrons in these shells, the s shell takes the spin.
    for (int l = 0; l <= element.highest; ++l)
      out[most_shells * a + static_cast<std::size_t>(l)] =
          valence > 0.0 ? spin * element.electrons[static_cast<std::size_t>(l)] / valence
          : l == 0      ? spin
                        : 0.0;
  }
  return out;
}

std::vector<double> SpinInteraction::potential(const std::vector<double>& spins) const {
  std::vector<double> out(spins.size(), 0.0);
  for (std::size_t a = 0; a < atoms_.type.size(); ++a) {
    const SpinConstants& w = constants_[static_cast<std::size_t>(atoms_.type[a])];
    for (std::size_t k = 0; k < most_shells; ++k)
      for (std::size_t l = 0; l < most_shells; ++l) out[most_shells * a + k] += w[k][l] * spins[most_shells * a + l];
  }
  return out;
}

double SpinInteraction::energy(const std::vector<double>& spins) const {
  const auto v = potential(spins);
  double sum = 0.0;
  for (std::size_t k = 0; k < spins.size(); ++k) sum += 0.5 * spins[k] * v[k];
  return sum;
}

}  // namespace cambium::submatrix
