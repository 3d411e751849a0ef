#pragma once
#include <map>
#include <string>
#include <vector>

namespace cambium::pretrain {

/// Runs that a stage made, with their parameters.
struct RunTable {
  std::vector<std::string> files;
  std::map<std::string, std::vector<double>> parameters;  ///< one value for each file
};

/// A table with the column `file` first, then one for each parameter. InputError when it cannot be read.
RunTable read_runs(const std::string& path);
/// The table as text.
std::string text_of(const RunTable& runs);

}  // namespace cambium::pretrain
