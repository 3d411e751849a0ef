#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium {

/// Reason why these ids are not a permutation of 1 to N; empty if they are. Outputs in the order of tags rely on it.
std::string problem_of_ids(const std::vector<std::int64_t>& ids);

/// Renumbers a file's ids to 1..N in the order of the ids, if they have gaps or do not start at 1; in file order if all
/// are 0 (LAMMPS' atoms without ids). If they were changed, `old` receives the ids of the file, ascending: the atom
/// that is now k + 1 was old[k].
struct Renumbered {
  std::string problem;            ///< why it is impossible: a duplicate id
  std::string remark;             ///< what was done; empty if nothing was
  std::vector<std::int64_t> old;  ///< empty if nothing was done
};
Renumbered renumber(std::vector<std::int64_t>& ids);

}  // namespace cambium
