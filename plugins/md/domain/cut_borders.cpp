#include "plugins/md/domain/cut_borders.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::md {
namespace {

/// Prevents rounding of fractional coordinates from losing a ghost that is just within range.
constexpr double cut_margin = 1e-9;

bool within(const FractionalBox& a, const int translation[3], const FractionalBox& b, const double reach[3]) {
  for (int d = 0; d < 3; ++d) {
    const double gap = std::max(b.low[d] - (a.high[d] + translation[d]), a.low[d] + translation[d] - b.high[d]);
    if (gap > reach[d]) return false;
  }
  return true;
}

/// Both ranks compute the lower rank's side, so that rounding cannot make the relation asymmetric.
bool near(int rank, const FractionalBox& own, const NearBox& other, const double reach[3]) {
  if (rank <= other.rank) return within(own, other.translation, other.box, reach);
  const int back[3] = {-other.translation[0], -other.translation[1], -other.translation[2]};
  return within(other.box, back, own, reach);
}

}  // namespace

std::vector<NearBox> boxes_near(const CutTree& cuts, int rank, const double reach[3]) {
  const FractionalBox own = cuts.box_of(rank);
  std::vector<NearBox> found;
  std::vector<int> ranks;
  int layers[3];
  for (int d = 0; d < 3; ++d) layers[d] = static_cast<int>(std::ceil(reach[d])) + 1;
  for (int c = -layers[2]; c <= layers[2]; ++c)
    for (int b = -layers[1]; b <= layers[1]; ++b)
      for (int a = -layers[0]; a <= layers[0]; ++a) {
        NearBox seen{0, {a, b, c}, {}};
        FractionalBox place;
        bool outside = false;
        for (int d = 0; d < 3; ++d) {
          place.low[d] = own.low[d] + seen.translation[d] - reach[d] - cut_margin;
          place.high[d] = own.high[d] + seen.translation[d] + reach[d] + cut_margin;
          outside = outside || place.high[d] < 0.0 || place.low[d] > 1.0;
        }
        if (outside) continue;
        cuts.find(place, ranks);
        for (int other : ranks) {
          if (other == rank && a == 0 && b == 0 && c == 0) continue;
          seen.rank = other;
          seen.box = cuts.box_of(other);
          if (near(rank, own, seen, reach)) found.push_back(seen);
        }
      }
  const auto place = [rank](const NearBox& n) { return n.rank == rank ? -1 : n.rank; };
  std::stable_sort(found.begin(), found.end(), [&](const auto& m, const auto& n) { return place(m) < place(n); });
  return found;
}

Surroundings::Surroundings(const CutTree& cuts, int rank, const Box& cell, double range)
    : own_(cuts.box_of(rank)), height_(cell.heights()), limit_(range * (1.0 + cut_margin) + cut_margin),
      right_angles_(!cell.is_triclinic()) {
  for (int d = 0; d < 3; ++d) reach_[d] = limit_ / height_[d];
  boxes_ = boxes_near(cuts, rank, reach_);
}

bool Surroundings::reaches(const double s[3], const NearBox& near) const {
  double sum = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double there = s[d] + near.translation[d];
    const double gap = std::max({0.0, near.box.low[d] - there, there - near.box.high[d]});
    if (gap > reach_[d]) return false;
    sum += gap * gap * height_[d] * height_[d];
  }
  return !right_angles_ || sum <= limit_ * limit_;  // a box's neighbourhood has rounded corners
}

}  // namespace cambium::md
