#pragma once
#include <map>
#include <string>
#include <vector>

namespace cambium::pretrain {

/// Output files of runs, with their parameters.
struct RunTable {
  std::vector<std::string> files;
  std::map<std::string, std::vector<double>> parameters;  ///< one value for each file
};

/// Reads a table with the column `file` first, then one for each parameter. InputError if it cannot be read.
RunTable read_runs(const std::string& path);
/// The table as text.
std::string text_of(const RunTable& runs);

}  // namespace cambium::pretrain
