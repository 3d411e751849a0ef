#include "plugins/submatrix/matrices/row_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/parallel/gather.hpp"

#ifdef CAMBIUM_HAVE_METIS
#include <metis.h>
#endif

namespace cambium::submatrix {

bool has_metis() {
#ifdef CAMBIUM_HAVE_METIS
  return true;
#else
  return false;
#endif
}

namespace {

/// A coupled pair of atoms, the lower number first.
struct AtomPair {
  int a, b;
  double weight;
};

/// Sorted, each pair once.
void merge(std::vector<AtomPair>& pairs) {
  std::sort(pairs.begin(), pairs.end(),
            [](const AtomPair& x, const AtomPair& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
  std::size_t last = 0;
  for (std::size_t k = 1; k < pairs.size(); ++k) {
    if (pairs[k].a == pairs[last].a && pairs[k].b == pairs[last].b)
      pairs[last].weight += pairs[k].weight;
    else
      pairs[++last] = pairs[k];
  }
  if (!pairs.empty()) pairs.resize(last + 1);
}

std::vector<AtomPair> own_pairs(const StoredElements& matrix, const std::vector<int>& atom_of) {
  std::vector<AtomPair> out;
  for (const auto& entry : matrix.entries) {
    const int i = atom_of[static_cast<std::size_t>(entry.row)], j = atom_of[static_cast<std::size_t>(entry.column)];
    if (i != j)
      out.push_back({std::min(i, j), std::max(i, j), entry.value * entry.value + entry.imaginary * entry.imaginary});
  }
  merge(out);
  return out;
}

/// Collective: all pairs on rank 0.
std::vector<AtomPair> all_pairs(std::vector<AtomPair> own, const FileRanks& ranks) {
  if (ranks.size() == 1) return own;
  auto out = gather(own, *ranks.comm());
  merge(out);
  return out;
}

#ifdef CAMBIUM_HAVE_METIS
/// Factor by which weights are multiplied before rounding: six digits, because sums on different numbers of ranks
/// differ in the last ones; fewer if METIS could not hold the sum of all.
double weight_scale(const std::vector<AtomPair>& pairs) {
  constexpr double digits = 1e6, most = 1 << 29;
  double largest = 0.0, sum = 0.0;
  for (const auto& p : pairs) {
    largest = std::max(largest, p.weight);
    sum += p.weight;
  }
  return std::min(digits / std::max(largest, 1e-300), most / std::max(sum, 1e-300));
}

bool leaves_one_empty(const std::vector<idx_t>& part, idx_t parts) {
  std::vector<bool> taken(static_cast<std::size_t>(parts), false);
  for (const idx_t p : part) taken[static_cast<std::size_t>(p)] = true;
  return std::find(taken.begin(), taken.end(), false) != taken.end();
}

std::vector<int> by_metis(const std::vector<AtomPair>& pairs, const std::vector<int>& atom_functions, int parts) {
  auto nodes = static_cast<idx_t>(atom_functions.size());
  idx_t constraints = 1, wanted = parts, cut = 0;
  std::vector<idx_t> start(atom_functions.size() + 1, 0), weight(atom_functions.begin(), atom_functions.end());
  for (const auto& p : pairs) ++start[static_cast<std::size_t>(p.a) + 1], ++start[static_cast<std::size_t>(p.b) + 1];
  const double scale = weight_scale(pairs);
  std::partial_sum(start.begin(), start.end(), start.begin());
  auto next = start;
  std::vector<idx_t> node(2 * pairs.size()), edge(2 * pairs.size()), part(atom_functions.size(), 0);
  for (const auto& p : pairs) {
    const idx_t w = 1 + static_cast<idx_t>(std::lround(scale * p.weight));
    for (const auto& [from, to] : {std::pair(p.a, p.b), std::pair(p.b, p.a)}) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++);
      node[at] = to, edge[at] = w;
    }
  }
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_UFACTOR] = 100;  // thousandths by which the largest block may exceed the mean
  const auto divide = [&](auto* method) {
    if (method(&nodes, &constraints, start.data(), node.data(), weight.data(), nullptr, edge.data(), &wanted, nullptr,
               nullptr, options, &cut, part.data()) != METIS_OK)
      throw InternalError("METIS could not divide the atoms");
  };
  divide(&METIS_PartGraphKway);
  // METIS 5.1.0 leaves parts empty, without a word, where they have few atoms: one block may then hold them all.
  if (leaves_one_empty(part, wanted)) divide(&METIS_PartGraphRecursive);
  return {part.begin(), part.end()};
}
#endif

}  // namespace

std::vector<int> metis_groups(const StoredElements& matrix, const std::vector<int>& atom_functions,
                              const std::vector<int>& atom_of, int functions, const FileRanks& ranks) {
  if (!has_metis())
    throw InputError(
        "blocks: metis needs a build with METIS (Debian's libmetis-dev, then configure again); choose atom or "
        "molecule");
  const int parts = std::max(1, static_cast<int>(std::lround(static_cast<double>(matrix.rows) / functions)));
  std::vector<double> part(atom_functions.size(), 0.0);
  const auto pairs = all_pairs(own_pairs(matrix, atom_of), ranks);
#ifdef CAMBIUM_HAVE_METIS
  if (ranks.rank() == 0 && parts > 1) {
    const auto found = by_metis(pairs, atom_functions, parts);
    std::copy(found.begin(), found.end(), part.begin());
  }
#endif
  ranks.sum(part);
  return {part.begin(), part.end()};
}

}  // namespace cambium::submatrix
