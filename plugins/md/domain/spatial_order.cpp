#include "plugins/md/domain/spatial_order.hpp"

#include "core/parallel/host_threads.hpp"
#include "plugins/md/domain/spatial_cells.hpp"

namespace cambium::md {
std::vector<int> spatial_order(const HostView<double* [4]>& x, const HostView<std::int64_t*>& tag, int count,
                               const Box& box, const double low[3], const double high[3]) {
  const SpatialCells cells(box, low, high, count);
  const int total = static_cast<int>(cells.total());
  std::vector<int> cell(count), end(total + 1, 0), order(count);
  constexpr std::int64_t enough_atoms = 512;
  in_shares(count, enough_atoms, [&](std::int64_t from, std::int64_t to) {
    for (auto i = static_cast<int>(from); i < static_cast<int>(to); ++i) {
      const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
      double s[3];
      box.to_fractional(r, s);
      cell[i] = cells.index(s);
    }
  });
  for (const int c : cell) ++end[c + 1];
  for (int c = 0; c < total; ++c) end[c + 1] += end[c];
  // Insertion sort by tag within each short cell; rows are nearly sorted from the previous call.
  std::vector<int> first(end.begin(), end.end() - 1);
  std::vector<int>& next = end;
  for (int i = 0; i < count; ++i) {
    const int c = cell[i];
    int k = next[c]++;
    for (; k > first[c] && tag(order[k - 1]) > tag(i); --k) order[k] = order[k - 1];
    order[k] = i;
  }
  bool same = true;
  for (int i = 0; i < count && same; ++i) same = order[i] == i;
  if (same) order.clear();
  return order;
}

}  // namespace cambium::md
