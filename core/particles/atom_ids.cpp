#include "core/particles/atom_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cambium {

std::string problem_of_ids(const std::vector<std::int64_t>& ids) {
  const auto n = static_cast<std::int64_t>(ids.size());
  std::vector<bool> seen(ids.size(), false);
  for (const std::int64_t id : ids) {
    if (id < 1 || id > n)
      return fmt::format("atom id {} is outside of 1 to {}, the number of atoms: renumber the atoms without gaps", id,
                         n);
    if (seen[id - 1]) return fmt::format("atom id {} is given twice", id);
    seen[id - 1] = true;
  }
  return {};
}

Renumbered renumber(std::vector<std::int64_t>& ids) {
  Renumbered out;
  if (ids.empty() || problem_of_ids(ids).empty()) return out;
  if (std::all_of(ids.begin(), ids.end(), [](std::int64_t id) { return id == 0; })) {
    std::iota(ids.begin(), ids.end(), 1);
    out.remark = "all ids are 0: atoms are numbered in the order of the file";
    return out;
  }
  out.old = ids;
  std::sort(out.old.begin(), out.old.end());
  if (const auto twice = std::adjacent_find(out.old.begin(), out.old.end()); twice != out.old.end()) {
    out.problem = fmt::format("atom id {} is given twice", *twice);
    return out;
  }
  for (std::int64_t& id : ids) id = std::lower_bound(out.old.begin(), out.old.end(), id) - out.old.begin() + 1;
  out.remark = fmt::format("ids from {} to {} were made 1 to {}, in their order", out.old.front(), out.old.back(),
                           out.old.size());
  return out;
}

}  // namespace cambium
