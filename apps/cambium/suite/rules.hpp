#pragma once
#include <string>
#include <vector>

#include "apps/cambium/suite/mllog_lines.hpp"

namespace cambium::train {

/// Findings of the rules of MLPerf HPC 3.0 in the log of one run, that of damaged lines first; the log is compliant if
/// none of them fails. Failures are those of the compliance checker of mlcommons/logging (usage hpc, ruleset 3.0.0);
/// warnings go beyond it.
std::vector<Finding> check_log(const MlLogFile& log);

/// Runs required for a score of this benchmark (cosmoflow 10, deepcam 5, oc20 5, openfold 10); 0 for an unknown name.
int runs_of(const std::string& benchmark);
/// Names between commas.
std::string benchmark_names();

}  // namespace cambium::train
