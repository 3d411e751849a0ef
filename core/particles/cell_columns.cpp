#include "core/particles/cell_columns.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel/host_threads.hpp"

namespace cambium {
namespace {

// Wide columns and narrow bins along them: a column costs a branch, a bin does not. Measured on Zen 5.
constexpr double columns_per_range = 0.75;
constexpr double x_bins_per_range = 4.0;

struct Bounds {
  double lo[3] = {1e18, 1e18, 1e18}, hi[3] = {-1e18, -1e18, -1e18};
};

/// For the finite coordinates; others cannot have neighbours.
Bounds bounding_box(const double* x, int n) {
  std::vector<Bounds> parts(host_threads());
  constexpr std::int64_t enough_atoms = 2048;
  in_parts(n, enough_atoms, [&](int part, std::int64_t first, std::int64_t last) {
    Bounds b;
    for (const double* r = x + 4 * first; r < x + 4 * last; r += 4)
      for (int k = 0; k < 3; ++k) {
        if (!(std::abs(r[k]) < 1e18)) continue;
        b.lo[k] = std::min(b.lo[k], r[k]);
        b.hi[k] = std::max(b.hi[k], r[k]);
      }
    parts[part] = b;
  });
  Bounds all;
  for (const Bounds& b : parts)
    for (int k = 0; k < 3; ++k) all.lo[k] = std::min(all.lo[k], b.lo[k]), all.hi[k] = std::max(all.hi[k], b.hi[k]);
  return all;
}

}  // namespace

void CellColumns::size_bins(const double* positions, int n, double range) {
  const Bounds b = bounding_box(positions, n);
  const double per_range[3] = {x_bins_per_range, columns_per_range, columns_per_range};
  double largest = 4.0 * range;
  for (int k = 0; k < 3; ++k) {
    middle[k] = 0.5 * (b.lo[k] + b.hi[k]);
    largest = std::max(largest, b.hi[k] - b.lo[k]);
  }
  unit = 0.5 * largest * (1.0 + 1e-12) / half_box;
  inverse_unit = 1.0 / unit;
  // An atom that flew far away must not cost memory: bins grow until there are at most some per particle.
  for (double coarser = 1.0;; coarser *= 1.5) {
    double total = 1.0;
    for (int k = 0; k < 3; ++k) {
      lo[k] = b.lo[k];
      const double extent = std::clamp(b.hi[k] - b.lo[k], 1e-3 * range, 1e12 * range);
      cells[k] = static_cast<int>(std::min(std::ceil(extent * per_range[k] / (range * coarser)), 1e9));
      width[k] = extent * (1.0 + 1e-12) / cells[k];
      inverse_width[k] = 1.0 / width[k];
      total *= cells[k];
    }
    if (total <= 32.0 * n + 4096.0) return;
  }
}

void CellColumns::bin(const double* positions, int n, double range) {
  size_bins(positions, n, range);
  const int bins = cells[0];
  const int chunks = std::max(1, HostExec().concurrency());
  const int chunk_size = (n + chunks - 1) / chunks;
  const std::int64_t slots = static_cast<std::int64_t>(cells[1]) * cells[2] * bins;
  bin_of_particle_.resize(n);
  counts_.assign(slots * chunks, 0);

  // A counting sort whose chunks are counted and scattered independently, with the same order as on one thread.
  const Kokkos::RangePolicy<HostExec> each_chunk(0, chunks);
  Kokkos::parallel_for("bin_count", each_chunk, [&](int c) {
    const int last = std::min(n, (c + 1) * chunk_size);
    for (int i = c * chunk_size; i < last; ++i) {
      const double* r = positions + 4 * static_cast<std::int64_t>(i);
      const int slot = (bin_of(r[2], 2) * cells[1] + bin_of(r[1], 1)) * bins + bin_of(r[0], 0);
      bin_of_particle_[i] = slot;
      ++counts_[slots * c + slot];
    }
  });
  lay_out_columns(chunks);
  Kokkos::parallel_for("bin_place", each_chunk, [&](int c) {
    const int last = std::min(n, (c + 1) * chunk_size);
    for (int i = c * chunk_size; i < last; ++i) {
      const int s = counts_[slots * c + bin_of_particle_[i]]++;
      const double* r = positions + 4 * static_cast<std::int64_t>(i);
      x(s) = in_units(r[0], 0);
      y(s) = in_units(r[1], 1);
      z(s) = in_units(r[2], 2);
      id(s) = i;
    }
  });
}

void CellColumns::lay_out_columns(int chunks) {
  const int bins = cells[0], columns = cells[1] * cells[2];
  const std::int64_t slots = static_cast<std::int64_t>(columns) * bins;
  start.resize(static_cast<std::size_t>(columns) * (bins + 1));
  int next = 0;
  for (int column = 0; column < columns; ++column) {
    int* first = &start[static_cast<std::size_t>(column) * (bins + 1)];
    for (int b = 0; b < bins; ++b) {
      first[b] = next;
      for (int c = 0; c < chunks; ++c) {
        int& count = counts_[slots * c + static_cast<std::int64_t>(column) * bins + b];
        next += count;
        count = next - count;
      }
    }
    first[bins] = next;
    next = (next + lanes - 1) / lanes * lanes;
  }
  if (static_cast<int>(id.extent(0)) < next) {
    const int size = next + next / 8;
    for (auto* a : {&x, &y, &z, &id})
      *a = Array<int>(Kokkos::ViewAllocateWithoutInitializing("neighbor_columns"), size);
  }
  for (int column = 0; column < columns; ++column) {
    const int end = start[static_cast<std::size_t>(column) * (bins + 1) + bins];
    for (int s = end; s < (end + lanes - 1) / lanes * lanes; ++s) {
      x(s) = y(s) = z(s) = nowhere;
      id(s) = -1;
    }
  }
}

}  // namespace cambium
