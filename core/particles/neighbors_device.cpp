#include "core/particles/neighbors_device.hpp"

#include <algorithm>
#include <cmath>

namespace cambium {
namespace {

constexpr int row_padding = NeighborList::row_padding;

/// Cells of at least one range over the bounding box of all particles. Trivially copyable.
struct CellGrid {
  double lo[3], inverse_width[3];
  int n[3];

  KOKKOS_INLINE_FUNCTION int along(double coordinate, int k) const {
    const double s = (coordinate - lo[k]) * inverse_width[k];
    return !(s > 0.0) ? 0 : s < n[k] ? static_cast<int>(s) : n[k] - 1;
  }
  KOKKOS_INLINE_FUNCTION int index(int cx, int cy, int cz) const { return (cz * n[1] + cy) * n[0] + cx; }
  int total() const { return n[0] * n[1] * n[2]; }
};

CellGrid make_grid(const View<double* [4]>& x, int count, double range) {
  CellGrid grid;
  double extent[3];
  for (int k = 0; k < 3; ++k) {
    double low = 0.0, high = 0.0;
    Kokkos::parallel_reduce(
        "neighbor_low", Range(0, count),
        KOKKOS_LAMBDA(int i, double& v) {
          if (x(i, k) < v) v = x(i, k);
        },
        Kokkos::Min<double>(low));
    Kokkos::parallel_reduce(
        "neighbor_high", Range(0, count),
        KOKKOS_LAMBDA(int i, double& v) {
          if (x(i, k) > v) v = x(i, k);
        },
        Kokkos::Max<double>(high));
    grid.lo[k] = low;
    extent[k] = std::clamp(high - low, 1e-3 * range, 1e12 * range);
  }
  // An atom that flew far away must not cost memory: cells grow until there are at most some per particle.
  for (double coarser = 1.0;; coarser *= 1.5) {
    double total = 1.0;
    for (int k = 0; k < 3; ++k) {
      const double cells = std::clamp(std::floor(extent[k] / (range * (1.0 + 1e-9) * coarser)), 1.0, 1e9);
      grid.n[k] = static_cast<int>(cells);
      grid.inverse_width[k] = cells / extent[k];
      total *= cells;
    }
    if (total <= 8.0 * count + 4096.0) return grid;
  }
}

template <class V>
void grow(V& view, const char* label, std::size_t size) {
  if (view.extent(0) < size) view = V(Kokkos::ViewAllocateWithoutInitializing(label), size + size / 8);
}

/// Lists the particles of every cell in ascending order, so that the result does not depend on the order of threads.
void fill_cells(const CellGrid& grid, const View<double* [4]>& x, int count, DeviceCells& cells) {
  grow(cells.cell, "neighbor_cell", count);
  grow(cells.member, "neighbor_member", count);
  grow(cells.start, "neighbor_start", grid.total() + 1);
  grow(cells.filled, "neighbor_filled", grid.total() + 1);
  const auto cell = cells.cell, start = cells.start, filled = cells.filled, member = cells.member;
  Kokkos::deep_copy(filled, 0);
  Kokkos::parallel_for(
      "neighbor_bin", Range(0, count), KOKKOS_LAMBDA(int i) {
        cell(i) = grid.index(grid.along(x(i, 0), 0), grid.along(x(i, 1), 1), grid.along(x(i, 2), 2));
        Kokkos::atomic_fetch_add(&filled(cell(i)), 1);
      });
  Kokkos::parallel_scan(
      "neighbor_cell_starts", Range(0, grid.total() + 1), KOKKOS_LAMBDA(int c, int& sum, bool last) {
        const int mine = filled(c);
        if (last) {
          start(c) = sum;
          filled(c) = 0;
        }
        sum += mine;
      });
  Kokkos::parallel_for(
      "neighbor_place", Range(0, count),
      KOKKOS_LAMBDA(int i) { member(start(cell(i)) + Kokkos::atomic_fetch_add(&filled(cell(i)), 1)) = i; });
  Kokkos::parallel_for(
      "neighbor_sort_cells", Range(0, grid.total()), KOKKOS_LAMBDA(int c) {
        for (int k = start(c) + 1; k < start(c + 1); ++k) {
          const int particle = member(k);
          int at = k;
          for (; at > start(c) && member(at - 1) > particle; --at) member(at) = member(at - 1);
          member(at) = particle;
        }
      });
}

/// Neighbours of one particle: counted, and the first `room` written to `out`.
struct RowSearch {
  CellGrid grid;
  View<double* [4]> x;
  View<int*> start, member;
  double range_squared;

  KOKKOS_INLINE_FUNCTION int operator()(int i, int* out, int room) const {
    int c[3], found = 0;
    for (int k = 0; k < 3; ++k) c[k] = grid.along(x(i, k), k);
    for (int cz = c[2] > 0 ? c[2] - 1 : 0; cz <= c[2] + 1 && cz < grid.n[2]; ++cz)
      for (int cy = c[1] > 0 ? c[1] - 1 : 0; cy <= c[1] + 1 && cy < grid.n[1]; ++cy)
        for (int cx = c[0] > 0 ? c[0] - 1 : 0; cx <= c[0] + 1 && cx < grid.n[0]; ++cx) {
          const int cell = grid.index(cx, cy, cz);
          for (int k = start(cell); k < start(cell + 1); ++k) {
            const int j = member(k);
            const double dx = x(j, 0) - x(i, 0), dy = x(j, 1) - x(i, 1), dz = x(j, 2) - x(i, 2);
            if (j == i || !(dx * dx + dy * dy + dz * dz < range_squared)) continue;
            if (found < room) out[found] = j;
            ++found;
          }
        }
    return found;
  }
};

KOKKOS_INLINE_FUNCTION std::int64_t padded_row(std::int64_t n) {
  return (n + row_padding - 1) / row_padding * row_padding;
}

/// Rows of equal length, in one pass: false if a row is longer than that.
bool fill_equal_rows(const RowSearch& search, int n, int sentinel, int pitch, NeighborList& list, int& longest) {
  grow(list.index, "neighbor_index", static_cast<std::size_t>(n) * static_cast<std::size_t>(pitch));
  const auto offset = list.offset;
  const auto count = list.count, index = list.index;
  Kokkos::parallel_reduce(
      "neighbor_rows", Range(0, n),
      KOKKOS_LAMBDA(int i, std::int64_t& pairs, int& most) {
        const std::int64_t begin = std::int64_t{i} * pitch;
        int* row = &index(begin);
        const int found = search(i, row, pitch);
        for (int k = found; k < padded_row(found) && k < pitch; ++k) row[k] = sentinel;
        offset(i) = begin;
        count(i) = found;
        if (i == n - 1) offset(n) = begin + pitch;
        pairs += found;
        most = found > most ? found : most;
      },
      list.pairs, Kokkos::Max<int>(longest));
  return longest <= pitch;
}

/// Consecutive rows, counted before they are filled.
void fill_counted_rows(const RowSearch& search, int n, int sentinel, NeighborList& list, int& longest) {
  const auto offset = list.offset;
  const auto count = list.count;
  std::int64_t entries = 0;
  Kokkos::parallel_reduce(
      "neighbor_count", Range(0, n),
      KOKKOS_LAMBDA(int i, std::int64_t& sum, int& most) {
        const int found = search(i, nullptr, 0);
        sum += count(i) = found;
        most = found > most ? found : most;
      },
      list.pairs, Kokkos::Max<int>(longest));
  Kokkos::parallel_scan(
      "neighbor_offsets", Range(0, n + 1),
      KOKKOS_LAMBDA(int i, std::int64_t& sum, bool last) {
        if (last) offset(i) = sum;
        sum += i < n ? padded_row(count(i)) : 0;
      },
      entries);
  grow(list.index, "neighbor_index", entries);
  const auto index = list.index;
  Kokkos::parallel_for(
      "neighbor_fill", Range(0, n), KOKKOS_LAMBDA(int i) {
        int* row = &index(offset(i));
        const int found = search(i, row, count(i));
        for (int k = found; k < padded_row(found); ++k) row[k] = sentinel;
      });
}

}  // namespace

void build_neighbors_on_device(const Particles& particles, NeighborList& list, DeviceCells& cells) {
  const int n = particles.nlocal, sentinel = particles.sentinel();
  const double range = list.cutoff + list.skin;
  const CellGrid grid = make_grid(particles.x, particles.total(), range);
  fill_cells(grid, particles.x, particles.total(), cells);
  const RowSearch search{grid, particles.x, cells.start, cells.member, range * range};
  // Row lengths hardly change from one list to the next: space for the longest, if all are similar, avoids the counting
  // pass.
  const auto pitch = static_cast<int>(padded_row(cells.longest + cells.longest / 16 + 1));
  const bool alike = n > 0 && cells.longest > 0 && std::int64_t{pitch} * n < 2 * list.pairs;
  cells.longest = 0;
  if (alike && fill_equal_rows(search, n, sentinel, pitch, list, cells.longest)) return;
  fill_counted_rows(search, n, sentinel, list, cells.longest);
}

}  // namespace cambium
