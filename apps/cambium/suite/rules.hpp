#pragma once
#include <string>
#include <vector>

#include "apps/cambium/suite/mllog_lines.hpp"

namespace cambium::train {

/// What the rules of MLPerf HPC 3.0 find in the log of one run, that of damaged lines first; nothing that fails: the
/// log keeps them.
std::vector<Finding> check_log(const MlLogFile& log);

/// Runs that a score of this benchmark takes (cosmoflow 10, deepcam 5, oc20 5, openfold 10); 0 for a name that is none.
int runs_of(const std::string& benchmark);
/// Names between commas.
std::string benchmark_names();

/// The rules of the division `closed`, beyond the common ones.
void check_closed(const MlLogFile& log, std::vector<Finding>& findings);

namespace suite_detail {
/// Exactly one line of this key, or several of equal values (a warning). Null when there is none or they differ.
const MlLine* exactly_one(const MlLogFile& log, const std::string& key, std::vector<Finding>& findings);
}  // namespace suite_detail

}  // namespace cambium::train
