#include "plugins/md/domain/cut_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::md {

CutTree CutTree::of(std::span<const double> numbers, int ranks, const std::string& source) {
  CutTree tree(ranks);
  bool sound = numbers.size() == 2 * (static_cast<std::size_t>(ranks) - 1);
  for (int upper = 1; sound && upper < ranks; ++upper) {
    const double direction = numbers[2 * static_cast<std::size_t>(upper) - 2];
    const double at = numbers[2 * static_cast<std::size_t>(upper) - 1];
    sound = (direction == 0.0 || direction == 1.0 || direction == 2.0) && at > 0.0 && at < 1.0;
    if (sound) tree.plane(upper) = {static_cast<int>(direction), at};
  }
  for (int rank = 0; sound && rank < ranks; ++rank) {
    const FractionalBox box = tree.box_of(rank);
    for (int d = 0; d < 3; ++d) sound = sound && box.low[d] < box.high[d];
  }
  if (!sound)
    throw InputError(
        fmt::format("'{}' holds planes that do not partition the cell into one box for each of {} ranks; the file is "
                    "damaged or was changed, resume from another one",
                    source, ranks));
  return tree;
}

std::vector<double> CutTree::numbers() const {
  std::vector<double> out;
  for (int upper = 1; upper < ranks(); ++upper) {
    out.push_back(plane(upper).direction);
    out.push_back(plane(upper).at);
  }
  return out;
}

bool CutTree::cuts(int direction) const {
  return std::any_of(planes_.begin() + 1, planes_.end(), [&](const Plane& p) { return p.direction == direction; });
}

int CutTree::rank_of(const double s[3]) const {
  int first = 0, last = ranks();
  while (last - first > 1) {
    const int half = middle(first, last);
    (s[plane(half).direction] < plane(half).at ? last : first) = half;
  }
  return first;
}

FractionalBox CutTree::box_of(int rank) const {
  FractionalBox box;
  for (int first = 0, last = ranks(); last - first > 1;) {
    const int half = middle(first, last);
    const Plane& p = plane(half);
    if (rank < half) {
      last = half;
      box.high[p.direction] = p.at;
    } else {
      first = half;
      box.low[p.direction] = p.at;
    }
  }
  return box;
}

void CutTree::find(const FractionalBox& place, std::vector<int>& ranks_found) const {
  struct Part {
    int first, last;
  };
  ranks_found.clear();
  std::vector<Part> open{{0, ranks()}};
  while (!open.empty()) {
    const auto [first, last] = open.back();
    open.pop_back();
    if (last - first == 1) {
      ranks_found.push_back(first);
      continue;
    }
    const int half = middle(first, last);
    const Plane& p = plane(half);
    if (place.high[p.direction] >= p.at) open.push_back({half, last});
    if (place.low[p.direction] <= p.at) open.push_back({first, half});  // visited first: ranks ascend
  }
}

}  // namespace cambium::md
