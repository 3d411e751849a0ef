#pragma once
#include <vector>

namespace cambium::superres {

/// A join of two neighbouring groups of ranks, as one of their members sees it.
struct Join {
  bool there = false;            ///< false on a level at which this rank's group stays as it is
  bool lower = false;            ///< this rank belongs to the lower group
  bool ends_low = false;         ///< the joined group holds the lowest rank, or
  bool ends_high = false;        ///< the highest
  int from = 0;                  ///< member of the other group whose message comes here
  std::vector<int> to;           ///< members of the other group that this rank sends to: one, or two, or none
  bool first(bool sent) const {  ///< whether what is sent (or comes) holds the group's first row
    return lower == sent ? !ends_low : true;
  }
  bool last(bool sent) const { return lower == sent ? true : !ends_high; }
};

/// How ranks 0..ranks-1 become one group: halves of halves, as many levels on every rank, the smallest groups first.
/// Each member of a group knows what the group knows, so that a rank sends at most two messages on a level, and takes
/// one.
std::vector<Join> joins_of(int rank, int ranks);

}  // namespace cambium::superres
