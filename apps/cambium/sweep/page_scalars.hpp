#pragma once
#include <string>
#include <vector>

namespace cambium {

/// A number that a stage's last page tells.
struct PageScalar {
  std::string stage;        ///< folder of the stage
  std::string name;         ///< "gamma" of "growth rate of the field: gamma = -0.15"; "nusselt_number_top" of
                            ///< "Nusselt number: bottom 4.1, top 4.2"
  std::string description;  ///< "growth rate of the field: gamma"
  std::string unit;
  double value = 0.0;
};

/// All numbers with a name on the last pages in log.txt of a run, of each stage its newest page: pieces such as
/// "NAME = NUMBER UNIT", "NAME NUMBER UNIT" and "NUMBER NAME" between commas, under the words before the colon. Text in
/// brackets, the timing table, the rate and the memory are left out; the time of the stage is "seconds".
std::vector<PageScalar> page_scalars(const std::string& log);

}  // namespace cambium
