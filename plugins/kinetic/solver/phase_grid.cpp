#include "plugins/kinetic/solver/phase_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

#include "core/base/error.hpp"

namespace cambium::kinetic {

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
  for (int d = dimensions - 1; d >= 0; --d) out[d] = index % axes[d].count, index /= axes[d].count;
  return out;
}

std::array<int, 3> PhaseGrid::local_conf(int index) const { return split(index, &axis[0], cdim); }
std::array<int, 3> PhaseGrid::local_velocity(int index) const { return split(index, &axis[cdim], vdim); }

/// Ranks per dimension: each prime factor goes to the configuration dimension with the most cells per rank, to velocity
/// space where configuration space has fewer than four cells left per rank.
static std::vector<int> choose(const PhaseGrid& grid, int ranks) {
  std::vector<int> out(grid.dimensions(), 1);
  for (int factor = 2; ranks > 1;) {
    if (ranks % factor) {
      ++factor;
      continue;
    }
    auto left = [&](int d) { return grid.axis[d].cells / (out[d] * factor); };
    int best = 0;
    for (int d = 1; d < grid.cdim; ++d)
      if (left(d) >= left(best)) best = d;  // x last among equals: its cells are the lanes of a pack
    if (left(best) < 4)
      for (int d = grid.cdim; d < grid.dimensions(); ++d)
        if (left(d) > left(best)) best = d;
    out[best] *= factor;
    ranks /= factor;
  }
  return out;
}

static void cut(Axis& axis, int ranks, int place) {
  axis.ranks = ranks;
  axis.place = place;
  axis.first = static_cast<int>(std::int64_t{axis.cells} * place / ranks);
  axis.count = static_cast<int>(std::int64_t{axis.cells} * (place + 1) / ranks) - axis.first;
}

void decompose(PhaseGrid& grid, const Comm& comm, const std::vector<int>& given) {
  decompose(grid, comm.rank(), comm.size(), given);
}

void decompose(PhaseGrid& grid, int rank, int size, const std::vector<int>& given) {
  const auto ranks = given.empty() ? choose(grid, size) : given;
  const int n = grid.dimensions();
  int product = 1;
  for (int r : ranks) product *= r;
  if (static_cast<int>(ranks.size()) != n || product != size)
    throw InputError(
        fmt::format("ranks: [{}] has {} entries and product {}; give {} entries, one per dimension of phase space, "
                    "whose product is the number of MPI ranks, {}",
                    fmt::join(ranks, ", "), ranks.size(), product, n, size));
  std::array<int, 6> place{}, stride{};
  for (int d = n - 1, rest = rank, s = 1; d >= 0; --d) {
    place[d] = rest % ranks[d], rest /= ranks[d];
    stride[d] = s, s *= ranks[d];
  }
  for (int d = 0; d < n; ++d) {
    Axis& a = grid.axis[d];
    if (ranks[d] > a.cells)
      throw InputError(
          fmt::format("dimension {} of phase space has {} cells for {} ranks; use fewer ranks or more cells", d + 1,
                      a.cells, ranks[d]));
    cut(a, ranks[d], place[d]);
    const bool around = d < grid.cdim && a.low_wall == Wall::periodic;
    auto neighbour = [&](int shift) {
      const int at = place[d] + shift;
      if (!around && (at < 0 || at >= ranks[d])) return -1;
      return rank + ((at + ranks[d]) % ranks[d] - place[d]) * stride[d];
    };
    a.low_rank = neighbour(-1), a.high_rank = neighbour(1);
  }
}

}  // namespace cambium::kinetic
