#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium {

/// Reason why these ids are not the numbers 1 to N, each once; empty when nothing does. Outputs in the order of tags
/// rely on it.
std::string problem_of_ids(const std::vector<std::int64_t>& ids);

/// Makes a file's ids the numbers 1 to N in the order of the ids, where they have gaps or begin elsewhere; in the order
/// of the file where all are 0 (LAMMPS' atoms without ids). `old` receives the ids of the file, rising, where they were
/// changed: the atom that is k + 1 now was old[k].
struct Renumbered {
  std::string problem;            ///< why it cannot be done: an id given twice
  std::string remark;             ///< what was done; empty where nothing was
  std::vector<std::int64_t> old;  ///< empty where nothing was done
};
Renumbered renumber(std::vector<std::int64_t>& ids);

}  // namespace cambium
