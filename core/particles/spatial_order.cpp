#include "core/particles/spatial_order.hpp"

#include <algorithm>
#include <cmath>

namespace cambium {
namespace {

constexpr double atoms_per_cell = 4.0;

struct Cells {
  int n[3];
  double low[3], scale[3];

  Cells(const Box& box, const double lo[3], const double hi[3], int count) {
    const auto height = box.heights();
    double volume = box.volume();
    for (int d = 0; d < 3; ++d) volume *= hi[d] - lo[d];
    const double edge = std::cbrt(atoms_per_cell * volume / std::max(count, 1));
    for (int d = 0; d < 3; ++d) n[d] = std::clamp(static_cast<int>(height[d] * (hi[d] - lo[d]) / edge), 1, 1024);
    // A part much thinner than a cell's edge would have far more cells than atoms.
    while (total() > 16 * static_cast<std::int64_t>(count) + 65536) {
      int& most = *std::max_element(n, n + 3);
      most = (most + 1) / 2;
    }
    for (int d = 0; d < 3; ++d) {
      low[d] = lo[d];
      scale[d] = n[d] / (hi[d] - lo[d]);
    }
  }
  std::int64_t total() const { return std::int64_t{n[0]} * n[1] * n[2]; }
  int index(const double s[3]) const {
    int k[3];
    for (int d = 0; d < 3; ++d) k[d] = std::clamp(static_cast<int>((s[d] - low[d]) * scale[d]), 0, n[d] - 1);
    return (k[2] * n[1] + k[1]) * n[0] + k[0];
  }
};

}  // namespace

std::vector<int> spatial_order(const HostView<double* [4]>& x, const HostView<std::int64_t*>& tag, int count,
                               const Box& box, const double low[3], const double high[3]) {
  const Cells cells(box, low, high, count);
  const int total = static_cast<int>(cells.total());
  std::vector<int> cell(count), end(total + 1, 0), order(count);
  for (int i = 0; i < count; ++i) {
    const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
    double s[3];
    box.to_fractional(r, s);
    cell[i] = cells.index(s);
    ++end[cell[i] + 1];
  }
  for (int c = 0; c < total; ++c) end[c + 1] += end[c];
  // Insertion keeps each short cell sorted by tag; rows come nearly sorted from the previous call.
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

}  // namespace cambium
