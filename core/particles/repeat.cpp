#include "core/particles/repeat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"

namespace cambium {

namespace {

/// The rows of a rank, once for each copy; `change(row, copy)` makes a row of a copy.
template <class T, class Change>
void copy_rows(std::vector<T>& rows, std::int64_t copies, Change change) {
  const std::size_t n = rows.size();
  rows.resize(n * copies);
  for (std::int64_t c = copies; c-- > 0;)
    for (std::size_t i = 0; i < n; ++i) rows[c * n + i] = change(rows[i], c);
}

}  // namespace

void repeat(Structure& s, const std::array<int, 3>& copies, const Comm& comm) {
  const std::int64_t na = copies[0], nb = copies[1];
  if (copies == std::array{1, 1, 1}) return;
  const auto own = static_cast<double>(s.tag.size());
  std::int64_t largest = 0;
  for (const std::int64_t tag : s.tag) largest = std::max(largest, tag);
  largest = static_cast<std::int64_t>(comm.max(static_cast<double>(largest)));
  if (comm.max(own) * copies[0] * copies[1] * copies[2] > std::numeric_limits<int>::max())
    throw InputError(
        fmt::format("repeat: {} x {} x {} copies of {} atoms are too many for {} ranks: use more, or fewer copies", na,
                    nb, copies[2], s.nglobal, comm.size()));
  const std::int64_t total = na * nb * copies[2];
  const auto same = [](const auto& row, std::int64_t) { return row; };
  const Box cell = s.box;
  copy_rows(s.tag, total, [&](std::int64_t tag, std::int64_t copy) { return tag + largest * copy; });
  copy_rows(s.type, total, same);
  copy_rows(s.v, total, same);
  copy_rows(s.x, total, [&](std::array<double, 3> x, std::int64_t copy) {
    const double shift[3] = {double(copy % na), double(copy / na % nb), double(copy / (na * nb))};
    for (int row = 0; row < 3; ++row)
      for (int k = 0; k < 3; ++k) x[k] += shift[row] * cell.h[row][k];
    return x;
  });
  s.image.clear();
  for (int row = 0; row < 3; ++row)
    for (int k = 0; k < 3; ++k) s.box.h[row][k] *= copies[row];
  s.nglobal *= total;
}

}  // namespace cambium
