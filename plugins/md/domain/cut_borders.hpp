#pragma once
#include <array>
#include <vector>

#include "core/particles/box.hpp"
#include "plugins/md/domain/cut_tree.hpp"

namespace cambium::md {

/// A box of a CutTree, or a periodic image of one, near another box.
struct NearBox {
  int rank = 0;
  int translation[3] = {0, 0, 0};  ///< cell vectors added to a local position for the owner of the box
  FractionalBox box;
};

/// Boxes within `reach` (fractional, per direction) of that of `rank`, including its own periodic images but not
/// itself: own images first, then by rank. Exactly symmetric: two boxes either both list each other or neither does.
std::vector<NearBox> boxes_near(const CutTree& cuts, int rank, const double reach[3]);

/// Selects the boxes around a rank's box that get a copy of an atom.
class Surroundings {
 public:
  /// `range` in Å.
  Surroundings(const CutTree& cuts, int rank, const Box& cell, double range);
  const std::vector<NearBox>& boxes() const { return boxes_; }
  /// Calls visit(k) for each box k within range of the fractional position s, which is in the box of the rank.
  template <class F>
  void each(const double s[3], const F& visit) const {
    if (stays(s)) return;
    for (std::size_t k = 0; k < boxes_.size(); ++k)
      if (reaches(s, boxes_[k])) visit(k);
  }

 private:
  /// True for most atoms of a large box.
  bool stays(const double s[3]) const {
    for (int d = 0; d < 3; ++d)
      if (s[d] - own_.low[d] <= reach_[d] || own_.high[d] - s[d] <= reach_[d]) return false;
    return true;
  }
  bool reaches(const double s[3], const NearBox& near) const;

  FractionalBox own_;
  std::array<double, 3> height_;
  double limit_;     ///< Å
  double reach_[3];  ///< the same as fractions
  bool right_angles_;
  std::vector<NearBox> boxes_;
};

}  // namespace cambium::md
