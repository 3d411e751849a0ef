#include "plugins/superres/convection/rank_tree.hpp"

#include <algorithm>
#include <bit>

namespace cambium::superres {

/// Join of groups first..middle-1 and middle..last-1, of which the lower has as many members or one more.
static Join join_of(int rank, int first, int middle, int last, int ranks) {
  Join out;
  out.there = true;
  out.lower = rank < middle;
  out.ends_low = first == 0;
  out.ends_high = last == ranks;
  const int below = middle - first, above = last - middle;
  if (out.lower) {
    const int member = rank - first;
    out.from = middle + std::min(member, above - 1);
    if (member < above) out.to.push_back(middle + member);
  } else {
    const int member = rank - middle;
    out.from = first + member;
    out.to.push_back(first + member);
    if (member == above - 1 && below > above) out.to.push_back(middle - 1);
  }
  return out;
}

std::vector<Join> joins_of(int rank, int ranks) {
  std::vector<Join> out(std::bit_width(static_cast<unsigned>(ranks) - 1u));
  int first = 0, last = ranks;
  for (auto join = out.rbegin(); join != out.rend() && last - first > 1; ++join) {
    const int middle = first + (last - first + 1) / 2;
    *join = join_of(rank, first, middle, last, ranks);
    (rank < middle ? last : first) = middle;
  }
  return out;
}

}  // namespace cambium::superres
