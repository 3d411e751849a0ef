#include "core/particles/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel/sums.hpp"
#include "core/particles/cell_columns.hpp"
#include "core/particles/neighbors_device.hpp"

namespace cambium {

/// Memory that one build leaves for the next.
struct NeighborList::Scratch {
  CellColumns columns;
  DeviceCells cells;
};

namespace {

constexpr int padding = NeighborList::row_padding;
using F = Pack<float, native_width<float>>;

std::int64_t padded(std::int64_t n) { return (n + padding - 1) / padding * padding; }

/// Squared distances, in units of CellColumns and single precision, below which a pair surely is in range, and from
/// which it surely is not: rounding to units moves a distance by up to sqrt(3), and coordinates about a group's center
/// are below three ranges.
struct Limits {
  float surely, perhaps;

  Limits(const CellColumns& c, double range) {
    const double reach = range / c.unit, rounding = 1.8, single = 4e-6;
    const double low = std::max(0.0, reach - rounding), high = reach + rounding;
    surely = static_cast<float>(low * low * (1.0 - single));
    perhaps = static_cast<float>(high * high * (1.0 + single));
  }
};

/// Consecutive owned atoms that are close together share one search of the bins: candidates within range of their
/// bounding box are copied to a short contiguous list.
struct RowGroup {
  static constexpr int max_atoms = 16;
  static constexpr double max_extent = 1.3;  // of the range; measured

  int first, last;
  double lo[3], hi[3];
};

RowGroup next_group(const double* x, int first, int end, double range) {
  RowGroup g{first, first + 1, {}, {}};
  for (int k = 0; k < 3; ++k) g.lo[k] = g.hi[k] = x[4 * static_cast<std::int64_t>(first) + k];
  for (; g.last < end && g.last - first < RowGroup::max_atoms; ++g.last) {
    const double* r = x + 4 * static_cast<std::int64_t>(g.last);
    double lo[3], hi[3];
    bool compact = true;
    for (int k = 0; k < 3; ++k) {
      lo[k] = std::min(g.lo[k], r[k]);
      hi[k] = std::max(g.hi[k], r[k]);
      compact = compact && hi[k] - lo[k] <= RowGroup::max_extent * range;
    }
    if (!compact) break;
    for (int k = 0; k < 3; ++k) {
      g.lo[k] = lo[k];
      g.hi[k] = hi[k];
    }
  }
  return g;
}

/// Candidates of a group, in units about its center; padded with far ones to full packs.
struct Candidates {
  std::vector<float> x, y, z;
  std::vector<int> id;
  int count = 0;
  int center[3];  ///< units
  F half[3];      ///< of the group's bounding box, units

  void start(const CellColumns& c, const RowGroup& g) {
    count = 0;
    for (int k = 0; k < 3; ++k) {
      const double middle = 0.5 * (g.lo[k] + g.hi[k]);
      center[k] = c.in_units(middle, k);
      half[k] = static_cast<float>(0.5 * (g.hi[k] - g.lo[k]) / c.unit + 2.0);
    }
  }
  void make_room(int more) {
    const std::size_t need = count + more + 2 * F::width;
    if (id.size() >= need) return;
    for (auto* a : {&x, &y, &z}) a->resize(2 * need);
    id.resize(2 * need);
  }

  /// Appends the particles at slots first..last-1 (full packs) within range of the group's bounding box.
  CAMBIUM_HF void append(const CellColumns& c, int first, int last, const Limits& limits) {
    make_room(last - first);
    const F zero = 0.0f, limit = limits.perhaps;
    int n = count;
    for (int s = first; s < last; s += F::width) {
      const F px = F::load_difference(c.x.data() + s, center[0]), py = F::load_difference(c.y.data() + s, center[1]),
              pz = F::load_difference(c.z.data() + s, center[2]);
      const F dx = max(max(px, -px) - half[0], zero), dy = max(max(py, -py) - half[1], zero),
              dz = max(max(pz, -pz) - half[2], zero);
      const auto near = fma(dx, dx, fma(dy, dy, dz * dz)) < limit;
      compress_store(&x[n], px, near);
      compress_store(&y[n], py, near);
      compress_store(&z[n], pz, near);
      n += compress_store(&id[n], c.id.data() + s, near);
    }
    count = n;
  }

  void fill() {
    for (int k = 0; k < F::width; ++k) {
      x[count + k] = 1e15f;
      y[count + k] = z[count + k] = 0.0f;
      id[count + k] = -1;
    }
  }
};

void collect(const CellColumns& c, const RowGroup& g, double range, const Limits& limits, Candidates& out) {
  const double search = range * (1.0 + 1e-9);  // covers rounding between bin borders and distances
  out.start(c, g);
  const int y0 = c.bin_of(g.lo[1] - search, 1), y1 = c.bin_of(g.hi[1] + search, 1);
  const int z0 = c.bin_of(g.lo[2] - search, 2), z1 = c.bin_of(g.hi[2] + search, 2);
  for (int cz = z0; cz <= z1; ++cz) {
    const double gap_z = c.gap(g.lo[2], g.hi[2], cz, 2);
    for (int cy = y0; cy <= y1; ++cy) {
      const double gap_y = c.gap(g.lo[1], g.hi[1], cy, 1);
      const double reach_squared = search * search - gap_y * gap_y - gap_z * gap_z;
      if (reach_squared < 0.0) continue;
      const double reach = std::sqrt(reach_squared);
      const int* start = c.column(cy, cz);
      const int first = start[c.bin_of(g.lo[0] - reach, 0)] & ~(F::width - 1);
      out.append(c, first, start[c.bin_of(g.hi[0] + reach, 0) + 1], limits);
    }
  }
  out.fill();
}

/// Exact membership of the candidates of one pack, for the rare pack that single precision cannot decide.
__attribute__((noinline)) int exact_pack(const double* x, const double* r, const int* id, int self, double range,
                                         int* out) {
  int found = 0;
  for (int k = 0; k < F::width; ++k) {
    if (id[k] < 0 || id[k] == self) continue;
    const double* p = x + 4 * static_cast<std::int64_t>(id[k]);
    const double dx = p[0] - r[0], dy = p[1] - r[1], dz = p[2] - r[2];
    if (dx * dx + dy * dy + dz * dz < range * range) out[found++] = id[k];
  }
  return found;
}

/// Writes the row of particle `self` and returns its length; `out` has room for all candidates and a pack.
int write_row(const double* x, int self, const CellColumns& columns, const Candidates& c, double range,
              const Limits& limits, int* out) {
  const double* r = x + 4 * static_cast<std::int64_t>(self);
  F p[3];
  for (int k = 0; k < 3; ++k) {
    const int q = columns.in_units(r[k], k);
    if (q == CellColumns::nowhere) return 0;
    p[k] = static_cast<float>(q - c.center[k]);
  }
  const F surely = limits.surely, perhaps = limits.perhaps;
  int found = 0;
  for (int s = 0; s < c.count; s += F::width) {
    const F dx = F::load(&c.x[s]) - p[0], dy = F::load(&c.y[s]) - p[1], dz = F::load(&c.z[s]) - p[2];
    const F d2 = fma(dx, dx, fma(dy, dy, dz * dz));
    const auto near = d2 < surely;
    if (near != (d2 < perhaps)) [[unlikely]]
      found += exact_pack(x, r, &c.id[s], self, range, out + found);
    else
      found += compress_store(out + found, &c.id[s], near & F::Mask::differs(&c.id[s], self));
  }
  return found;
}

/// Entries per row to reserve, padding included, for particles spread evenly over the bins.
double expected_row(const CellColumns& c, int n, double range) {
  const double volume = c.width[0] * c.cells[0] * c.width[1] * c.cells[1] * c.width[2] * c.cells[2];
  return std::min(1.0 * n, 1.2 * n * 4.19 * range * range * range / volume) + 2.0 * padding;
}

/// Writes rows first..last-1 from entry `entry` on, with space for `room` entries. Returns the number of neighbours, or
/// -1 if they do not fit.
std::int64_t write_rows(const Particles& particles, const CellColumns& columns, const NeighborList& list, int first,
                        int last, std::int64_t entry, std::int64_t room) {
  const double* x = particles.x.data();
  const double range = list.cutoff + list.skin;
  const std::int64_t end = entry + room;
  std::int64_t pairs = 0;
  int* index = list.index.data();
  const Limits limits(columns, range);
  Candidates candidates;
  for (RowGroup g = next_group(x, first, last, range); g.first < last; g = next_group(x, g.last, last, range)) {
    collect(columns, g, range, limits, candidates);
    for (int i = g.first; i < g.last; ++i) {
      if (entry + candidates.count + 2 * padding > end) return -1;
      const int found = write_row(x, i, columns, candidates, range, limits, index + entry);
      list.offset(i) = entry;
      list.count(i) = found;
      pairs += found;
      for (int k = found; k < padded(found); ++k) index[entry + k] = particles.sentinel();
      entry += padded(found);
    }
  }
  return pairs;
}

void build_on_host(const Particles& particles, NeighborList& list) {
  const int n = particles.nlocal;
  const double range = list.cutoff + list.skin;
  CellColumns& columns = list.scratch->columns;
  columns.bin(particles.x.data(), particles.total(), range);

  // Each thread fills a stretch of its own; when one does not fit, all are repeated with more room.
  const int chunks = std::max(1, HostExec().concurrency());
  const int rows = (n + chunks - 1) / chunks;
  std::int64_t room = static_cast<std::int64_t>(list.index.extent(0)) / chunks / padding * padding;
  if (room == 0)
    room = padded(static_cast<std::int64_t>(rows * expected_row(columns, particles.total(), range)) + 1024);
  for (bool fits = false; !fits; room += room / 2 / padding * padding) {
    if (static_cast<std::int64_t>(list.index.extent(0)) < room * chunks)
      list.index = View<int*>(Kokkos::ViewAllocateWithoutInitializing("neighbor_index"), room * chunks);
    Sums<2> sums;  // pairs, and chunks that do not fit
    Kokkos::parallel_reduce(
        "neighbor_rows", Kokkos::RangePolicy<HostExec>(0, chunks),
        [&](int c, Sums<2>& s) {
          const int first = std::min(n, c * rows), last = std::min(n, first + rows);
          const std::int64_t pairs = write_rows(particles, columns, list, first, last, room * c, room);
          s.v[pairs < 0 ? 1 : 0] += pairs < 0 ? 1.0 : static_cast<double>(pairs);
        },
        Kokkos::Sum<Sums<2>>(sums));
    fits = sums.v[1] == 0.0;
    list.pairs = static_cast<std::int64_t>(sums.v[0]);
  }
  // Not by the threads: the end of one stretch is the first row of the next.
  list.offset(n) = n == 0 ? 0 : list.offset(n - 1) + padded(list.count(n - 1));
}

}  // namespace

void build_neighbors(const Particles& particles, double cutoff, double skin, NeighborList& list) {
  const int n = particles.nlocal;
  list.cutoff = cutoff;
  list.skin = skin;
  if (static_cast<int>(list.count.extent(0)) < n || list.offset.extent(0) == 0) {
    list.count = View<int*>(Kokkos::ViewAllocateWithoutInitializing("neighbor_count"), n + n / 8);
    list.offset = View<std::int64_t*>(Kokkos::ViewAllocateWithoutInitializing("neighbor_offset"), n + n / 8 + 1);
  }
  if (!list.scratch) list.scratch = std::make_shared<NeighborList::Scratch>();
  if constexpr (device_is_host)
    build_on_host(particles, list);
  else
    build_neighbors_on_device(particles, list, list.scratch->cells);
}

}  // namespace cambium
