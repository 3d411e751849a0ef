#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/pack.hpp"
#include "core/particles/neighbors.hpp"

namespace cambium::md {

/// Neighbours of an atom within a range that depends on their type, grouped by type, each group padded to full packs
/// with atoms out of range (row -1).
template <class P>
struct NearAtoms {
  struct Group {
    int type, first, last;  ///< of the rows below, full packs
  };
  std::vector<double> x, y, z, r;  ///< Å, from the central atom
  std::vector<int> row;            ///< of the particle
  std::vector<Group> groups;

  int size() const { return groups.empty() ? 0 : groups.back().last; }

  void reserve(int most) {
    if (static_cast<int>(row.size()) >= most) return;
    for (auto* v : {&x, &y, &z, &r}) v->resize(most);
    row.resize(most);
  }
};

/// Positions of neighbours within a cut-off, stored consecutively.
template <class P>
struct Candidates {
  std::vector<double> x, y, z, r2, type;
  std::vector<int> row;
  int count = 0;
  std::vector<char> present;  ///< by type

  /// positions: rows (x, y, z, type); j: n neighbours of atom i, padded.
  void find(const double* positions, int i, const int* j, int n, double cutoff, int types) {
    if (static_cast<int>(row.size()) < n + 2 * NeighborList::row_padding) {
      for (auto* v : {&x, &y, &z, &r2, &type}) v->resize(n + 2 * NeighborList::row_padding);
      row.resize(n + 2 * NeighborList::row_padding);
    }
    const double* own = positions + 4 * static_cast<std::int64_t>(i);
    const P px = own[0], py = own[1], pz = own[2];
    count = 0;
    for (int k = 0; k < n; k += P::width) {
      const auto other = gather_rows<P>(positions, j + k);
      const P dx = other.x - px, dy = other.y - py, dz = other.z - pz, d2 = fma(dx, dx, fma(dy, dy, dz * dz));
      const auto inside = d2 < P(cutoff * cutoff);
      compress_store(x.data() + count, dx, inside);
      compress_store(y.data() + count, dy, inside);
      compress_store(z.data() + count, dz, inside);
      compress_store(r2.data() + count, d2, inside);
      compress_store(type.data() + count, other.type, inside);
      count += compress_store(row.data() + count, j + k, inside);
    }
    present.assign(types, 0);
    for (int k = 0; k < count; ++k) present[static_cast<int>(type[k])] = 1;
  }

  /// range: largest distance by type.
  void sort_into(NearAtoms<P>& out, std::span<const double> range) const {
    out.groups.clear();
    out.reserve(count + (static_cast<int>(range.size()) + 1) * P::width);
    int at = 0;
    for (int t = 0; t < static_cast<int>(range.size()); ++t) {
      if (!present[t]) continue;
      const int first = at;
      for (int k = 0; k < count; ++k) {
        if (static_cast<int>(type[k]) != t || r2[k] >= range[t] * range[t]) continue;
        out.x[at] = x[k];
        out.y[at] = y[k];
        out.z[at] = z[k];
        out.r[at] = std::sqrt(r2[k]);
        out.row[at++] = row[k];
      }
      if (at == first) continue;
      for (; at % P::width != 0; ++at) {
        out.x[at] = out.r[at] = 2.0 * range[t];
        out.y[at] = out.z[at] = 0.0;
        out.row[at] = -1;
      }
      out.groups.push_back({t, first, at});
    }
  }
};

}  // namespace cambium::md
