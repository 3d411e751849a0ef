#include "plugins/relate/chemistry/fragments.hpp"

#include <algorithm>
#include <utility>

#include "plugins/relate/chemistry/hydrogens.hpp"

namespace cambium::relate {

namespace {

/// Deterministic hash (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) {
  std::uint64_t z = hash * 0x9e3779b97f4a7c15u + with + 0x632be59bd9b4e019u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// Explicit hydrogens of a bracket atom, if it would have another number without brackets: [C@@H] and [CH3] are like C
/// there and give 0. An atom without hydrogens that would otherwise have some, as [C] in a carbene, gets a mark of its
/// own.
int named_hydrogens(const MoleculeGraph::Atom& atom, int bonds) {
  constexpr int bare = 1000;
  const int usual = usual_hydrogens(atom, bonds);
  if (atom.hydrogens < 0 || atom.hydrogens == usual) return 0;
  return atom.hydrogens > 0 ? atom.hydrogens : usual > 0 ? bare : 0;
}

}  // namespace

std::vector<std::int32_t> fragment_rows(const MoleculeGraph& molecule, int radius, std::int64_t rows) {
  const std::size_t n = molecule.atoms.size();
  std::vector<std::vector<std::pair<std::uint64_t, std::size_t>>> neighbours(n);
  for (const auto& bond : molecule.bonds) {
    neighbours[bond.a].emplace_back(bond.order, static_cast<std::size_t>(bond.b));
    neighbours[bond.b].emplace_back(bond.order, static_cast<std::size_t>(bond.a));
  }
  const auto bonds = orders_of(molecule);
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
