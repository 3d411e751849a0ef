#pragma once
#include <vector>

namespace cambium::superres {

/// A join of two neighbouring groups of ranks, from the perspective of one member.
struct Join {
  bool there = false;            ///< false on a level at which this rank's group does not change
  bool lower = false;            ///< this rank belongs to the lower group
  bool ends_low = false;         ///< the joined group holds the lowest rank, or
  bool ends_high = false;        ///< the highest
  int from = 0;                  ///< member of the other group whose message is received
  std::vector<int> to;           ///< members of the other group that this rank sends to: one, two, or none
  bool first(bool sent) const {  ///< true if the message sent (or received) has the group's first row
    return lower == sent ? !ends_low : true;
  }
  bool last(bool sent) const { return lower == sent ? true : !ends_high; }
};

/// Sequence of joins that merges ranks 0..ranks-1 into one group: recursive halves, with the same number of levels on
/// every rank, the smallest groups first. All members of a group have the same data, so that a rank sends at most two
/// messages on a level, and receives one.
std::vector<Join> joins_of(int rank, int ranks);

}  // namespace cambium::superres
