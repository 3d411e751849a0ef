#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "core/parallel/kokkos.hpp"

namespace cambium::sparse {

/// Calls f(first row, last row) for ranges that hold about equally many entries (each row counts as one more), on all
/// threads of the host. Rows of one range are in order; ranges may come in any.
template <class F>
void for_row_ranges(std::span<const std::int64_t> start, const F& f) {
  const auto rows = static_cast<std::int64_t>(start.size()) - 1;
  const std::int64_t threads = HostExec().concurrency();
  const std::int64_t parts = threads == 1 ? 1 : std::min<std::int64_t>(rows, 4 * threads);
  if (parts <= 1) return rows > 0 ? f(std::int64_t{0}, rows) : void();
  const std::int64_t* const from = start.data();
  const auto border = [=](std::int64_t part) {
    const std::int64_t wanted = (from[rows] + rows) * part / parts;
    std::int64_t low = 0, high = rows;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (from[middle] + middle < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  using Parts = Kokkos::RangePolicy<HostExec, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<int>>;
  Kokkos::parallel_for("sparse_rows", Parts(0, static_cast<int>(parts)), [=, &f](const int part) {
    const std::int64_t first = border(part), last = border(part + 1);
    if (first < last) f(first, last);
  });
  Kokkos::fence();
}

}  // namespace cambium::sparse
