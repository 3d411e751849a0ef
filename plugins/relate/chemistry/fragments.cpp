#include "plugins/relate/chemistry/fragments.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace cambium::relate {

namespace {

/// A hash that is the same on every machine (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) {
  std::uint64_t z = hash * 0x9e3779b97f4a7c15u + with + 0x632be59bd9b4e019u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// Hydrogens of an atom outside brackets with bonds of these orders in all (OpenSMILES); -1 where brackets are needed.
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

/// Hydrogens that brackets name, where the atom would have others without brackets: [C@@H] and [CH3] are as C there.
int named_hydrogens(const MoleculeGraph::Atom& atom, int bonds) {
  return atom.hydrogens > 0 && atom.hydrogens != usual_hydrogens(atom, bonds) ? atom.hydrogens : 0;
}

}  // namespace

std::vector<std::int32_t> fragment_rows(const MoleculeGraph& molecule, int radius, std::int64_t rows) {
  const std::size_t n = molecule.atoms.size();
  std::vector<std::vector<std::pair<std::uint64_t, std::size_t>>> neighbours(n);
  for (const auto& bond : molecule.bonds) {
    neighbours[static_cast<std::size_t>(bond.a)].emplace_back(bond.order, static_cast<std::size_t>(bond.b));
    neighbours[static_cast<std::size_t>(bond.b)].emplace_back(bond.order, static_cast<std::size_t>(bond.a));
  }
  std::vector<int> bonds(n, 0);  // a double one counts twice, an aromatic one once
  for (std::size_t a = 0; a < n; ++a)
    for (const auto& [order, other] : neighbours[a]) bonds[a] += order == 5 ? 1 : static_cast<int>(order);
  std::vector<std::uint64_t> now(n), next(n);
  for (std::size_t a = 0; a < n; ++a) {
    const auto& atom = molecule.atoms[a];
    std::uint64_t hash = 1;
    for (const char c : atom.element) hash = mixed(hash, static_cast<unsigned char>(c));
    hash = mixed(hash, atom.aromatic ? 1 : 0);
    hash = mixed(hash, static_cast<std::uint64_t>(atom.charge + 16));
    hash = mixed(hash, static_cast<std::uint64_t>(named_hydrogens(atom, bonds[a])));
    now[a] = mixed(hash, neighbours[a].size());
  }
  std::vector<std::int32_t> out;
  for (int r = 0;; ++r) {
    for (const auto hash : now)
      out.push_back(
          static_cast<std::int32_t>(mixed(hash, static_cast<std::uint64_t>(r)) % static_cast<std::uint64_t>(rows)));
    if (r == radius) break;
    for (std::size_t a = 0; a < n; ++a) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> around;
      for (const auto& [order, other] : neighbours[a]) around.emplace_back(order, now[other]);
      std::sort(around.begin(), around.end());
      next[a] = mixed(now[a], static_cast<std::uint64_t>(r));
      for (const auto& [order, hash] : around) next[a] = mixed(mixed(next[a], order), hash);
    }
    now.swap(next);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace cambium::relate
