#include "core/particles/atom_ids.hpp"

#include <fmt/format.h>

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

}  // namespace cambium
