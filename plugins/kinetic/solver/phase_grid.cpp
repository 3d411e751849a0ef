#include "plugins/kinetic/solver/phase_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/key_error.hpp"

namespace cambium::kinetic {

double Axis::narrowest() const {
  double least = width(0);
  for (int k = 1; k < (stretched() ? cells : 0); ++k) least = std::min(least, width(k));
  return least;
}

bool Axis::symmetric() const {
  const double small = 1e-9 * (upper - lower);
  bool out = std::abs(lower + upper) <= small;
  for (std::size_t k = 0; k < edges.size(); ++k) out = out && std::abs(edges[k] + edges[edges.size() - 1 - k]) <= small;
  return out;
}

bool PhaseGrid::stretched() const {
  return std::any_of(axis.begin() + cdim, axis.begin() + dimensions(), [](const Axis& a) { return a.stretched(); });
}

double PhaseGrid::velocity_volume(int index) const {
  const auto at = local_velocity(index);
  double out = 1.0;
  for (int d = 0; d < vdim; ++d) out *= velocity(d).width(velocity(d).first + at[d]);
  return out;
}

int PhaseGrid::conf_cells() const {
  int n = 1;
  for (int d = 0; d < cdim; ++d) n *= axis[d].cells;
  return n;
}

int PhaseGrid::local_conf_cells() const {
  int n = 1;
  for (int d = 0; d < cdim; ++d) n *= axis[d].count;
  return n;
}

int PhaseGrid::local_velocity_cells() const {
  int n = 1;
  for (int d = 0; d < vdim; ++d) n *= velocity(d).count;
  return n;
}

std::int64_t PhaseGrid::cells() const {
  std::int64_t n = 1;
  for (int d = 0; d < dimensions(); ++d) n *= axis[d].cells;
  return n;
}

int PhaseGrid::conf_index(const std::array<int, 3>& local) const {
  int index = 0;
  for (int d = 0; d < cdim; ++d) index = index * axis[d].cells + axis[d].first + local[d];
  return index;
}

static std::array<int, 3> split(int index, const Axis* axes, int dimensions) {
  std::array<int, 3> out{0, 0, 0};
  for (int d = dimensions - 1; d >= 0; --d) {
    out[d] = index % axes[d].count;
    index /= axes[d].count;
  }
  return out;
}

std::array<int, 3> PhaseGrid::local_conf(int index) const { return split(index, &axis[0], cdim); }
std::array<int, 3> PhaseGrid::local_velocity(int index) const { return split(index, &axis[cdim], vdim); }

/// Cells that each rank has left along a dimension that is cut once more.
static int left_of(const PhaseGrid& grid, const std::vector<int>& cuts, int d, int factor) {
  return grid.axis[d].cells / (cuts[d] * factor);
}

/// Each prime factor goes to the configuration dimension with the most cells per rank, to velocity space where
/// configuration space has fewer than four cells left per rank and every species has more there.
std::vector<std::vector<int>> cuts_of(const std::vector<PhaseGrid>& grids, int ranks) {
  std::vector<std::vector<int>> out;
  for (const auto& grid : grids) out.emplace_back(grid.dimensions(), 1);
  const int cdim = grids.front().cdim;
  for (int factor = 2; ranks > 1;) {
    if (ranks % factor) {
      ++factor;
      continue;
    }
    const auto left = [&](std::size_t s, int d) { return left_of(grids[s], out[s], d, factor); };
    int best = 0;
    for (int d = 1; d < cdim; ++d)
      if (left(0, d) >= left(0, best)) best = d;  // x last among equals: its cells are the lanes of a pack
    std::vector<int> along(grids.size(), best);
    bool velocity = left(0, best) < 4;
    for (std::size_t s = 0; s < grids.size(); ++s) {
      for (int d = cdim; d < grids[s].dimensions(); ++d)
        if (left(s, d) > left(s, along[s])) along[s] = d;
      velocity &= along[s] != best;
    }
    for (std::size_t s = 0; s < grids.size(); ++s) out[s][velocity ? along[s] : best] *= factor;
    ranks /= factor;
  }
  return out;
}

void cut(Axis& axis, int ranks, int place) {
  axis.ranks = ranks;
  axis.place = place;
  axis.first = static_cast<int>(std::int64_t{axis.cells} * place / ranks);
  axis.count = static_cast<int>(std::int64_t{axis.cells} * (place + 1) / ranks) - axis.first;
}

void decompose(PhaseGrid& grid, const Comm& comm, const std::vector<int>& given) {
  decompose(grid, comm.rank(), comm.size(), given);
}

void decompose(PhaseGrid& grid, int rank, int size, const std::vector<int>& given) {
  const auto ranks = given.empty() ? cuts_of({grid}, size).front() : given;
  const int n = grid.dimensions();
  int product = 1;
  for (int r : ranks) product *= r;
  if (static_cast<int>(ranks.size()) != n || product != size)
    throw KeyError(
        "kinetic.ranks.count", "ranks",
        fmt::format("ranks: [{}] has {} entries and product {}; give {} entries, one per dimension of phase space, "
                    "whose product is the number of MPI ranks, {}",
                    fmt::join(ranks, ", "), ranks.size(), product, n, size));
  std::array<int, 6> place{}, stride{};
  for (int d = n - 1, rest = rank, s = 1; d >= 0; --d) {
    place[d] = rest % ranks[d];
    rest /= ranks[d];
    stride[d] = s;
    s *= ranks[d];
  }
  for (int d = 0; d < n; ++d) {
    Axis& a = grid.axis[d];
    if (ranks[d] > a.cells)
      throw KeyError("kinetic.ranks.cells", "ranks",
                     fmt::format("dimension {} of phase space has {} cells for {} ranks; use fewer ranks or more cells",
                                 d + 1, a.cells, ranks[d]));
    cut(a, ranks[d], place[d]);
    const bool around = d < grid.cdim && a.low_wall == Wall::periodic;
    auto neighbour = [&](int shift) {
      const int at = place[d] + shift;
      if (!around && (at < 0 || at >= ranks[d])) return -1;
      return rank + ((at + ranks[d]) % ranks[d] - place[d]) * stride[d];
    };
    a.low_rank = neighbour(-1);
    a.high_rank = neighbour(1);
  }
}

}  // namespace cambium::kinetic
