#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cambium/suite/mllog_lines.hpp"

namespace cambium::train {

/// For a set of runs.
struct Score {
  std::string benchmark;  ///< empty: the logs name none
  std::int64_t batch = 0;
  int runs = 0, reached = 0;            ///< reached: runs whose run_stop reports success
  std::optional<double> seconds;        ///< mean of run_start to run_stop without the fastest and the slowest run
  double fastest = 0.0, slowest = 0.0;  ///< of those that reached the target
  std::vector<double> epochs;           ///< epoch_num of the last evaluation of those that reached it
  std::vector<std::string> problems;    ///< why the score is invalid; then there are no seconds
};

/// A run that did not reach its target counts as the slowest; one of a set may. `asked`: runs of a score; 0: as many as
/// the benchmark requires.
Score score_of(const std::vector<MlLogFile>& logs, int asked = 0);

}  // namespace cambium::train
