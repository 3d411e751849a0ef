#include "plugins/relate/chemistry/hydrogens.hpp"

#include <algorithm>
#include <map>

namespace cambium::relate {

int usual_hydrogens(const MoleculeGraph::Atom& atom, int bonds) {
  static const std::map<std::string_view, std::vector<int>> valences = {
      {"B", {3}}, {"C", {4}},       {"N", {3, 5}}, {"O", {2}},  {"P", {3, 5}},
      {"F", {1}}, {"S", {2, 4, 6}}, {"Cl", {1}},   {"Br", {1}}, {"I", {1}}};
  const auto found = valences.find(atom.element);
  if (found == valences.end() || atom.charge != 0) return -1;
  if (atom.aromatic) return std::max(0, found->second.front() - bonds - 1);
  for (const int valence : found->second)
    if (valence >= bonds) return valence - bonds;
  return 0;
}

std::vector<int> orders_of(const MoleculeGraph& molecule) {
  std::vector<int> out(molecule.atoms.size(), 0);
  for (const auto& bond : molecule.bonds) {
    const int order = bond.order == MoleculeGraph::aromatic || bond.order == MoleculeGraph::dative ? 1 : bond.order;
    if (bond.order != MoleculeGraph::dative) out[bond.a] += order;
    out[bond.b] += order;
  }
  return out;
}

namespace {

/// The atom that each hydrogen is merged into; -1 for atoms that stay.
std::vector<int> owners_of(const MoleculeGraph& molecule, const std::vector<bool>& plain) {
  std::vector<int> owner(molecule.atoms.size(), -1), bonds(molecule.atoms.size(), 0);
  const auto hydrogen = [&](int a) { return molecule.atoms[a].element == "H"; };
  for (const auto& bond : molecule.bonds) {
    ++bonds[bond.a], ++bonds[bond.b];
    for (const auto& [h, other] : {std::pair{bond.a, bond.b}, {bond.b, bond.a}})
      if (hydrogen(h) && !hydrogen(other) && bond.order == 1) owner[h] = other;
  }
  for (std::size_t a = 0; a < owner.size(); ++a) {
    const auto& atom = molecule.atoms[a];
    if (bonds[a] != 1 || !plain[a] || atom.charge != 0 || atom.hydrogens > 0) owner[a] = -1;
  }
  return owner;
}

}  // namespace

void join_hydrogens(MoleculeGraph& molecule, const std::vector<bool>& plain) {
  const auto owner = owners_of(molecule, plain);
  const auto orders = orders_of(molecule);
  std::vector<int> joined(owner.size(), 0), place(owner.size(), -1);
  for (const int a : owner)
    if (a >= 0) ++joined[a];
  if (std::all_of(joined.begin(), joined.end(), [](int count) { return count == 0; })) return;
  MoleculeGraph out;
  for (std::size_t a = 0; a < owner.size(); ++a) {
    if (owner[a] >= 0) continue;
    place[a] = static_cast<int>(out.atoms.size());
    auto atom = molecule.atoms[a];
    if (joined[a] > 0) {
      const int others = atom.hydrogens >= 0 ? atom.hydrogens : std::max(0, usual_hydrogens(atom, orders[a]));
      const int all = others + joined[a];
      atom.hydrogens = atom.hydrogens < 0 && all == usual_hydrogens(atom, orders[a] - joined[a]) ? -1 : all;
    }
    out.atoms.push_back(std::move(atom));
  }
  for (const auto& bond : molecule.bonds) {
    const int a = place[bond.a], b = place[bond.b];
    if (a >= 0 && b >= 0) out.bonds.push_back({a, b, bond.order});
  }
  molecule = std::move(out);
}

}  // namespace cambium::relate
