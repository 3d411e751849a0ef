#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/plugin/task.hpp"

namespace cambium {

/// results.json in the folder of a stage: its summary as data. docs/using/output.md describes the file.
struct StageResults {
  static constexpr const char* file = "results.json";
  std::vector<Result> results;  ///< without the number of digits, which is the summary's
  double seconds = 0.0;         ///< wall time of the stage's last call: of its loop, if it has one
  int ranks = 1;
  std::optional<std::int64_t> steps;  ///< of that call
  std::int64_t items = 0;             ///< per step, or of the entire stage without steps
  std::string item;                   ///< "atom"
  double memory = 0.0;                ///< bytes: the largest of the ranks' peaks
  std::vector<std::string> summary;   ///< the lines of the summary
  std::vector<std::string> files;     ///< written next to it
  std::vector<Log::Warning> warnings;
};

/// A number that is not finite becomes null, since JSON has no NaN or infinity.
std::string json_of(const StageResults& all);
/// InputError when the text is damaged. `path`: its file, for the message.
StageResults stage_results_of(const std::string& json, const std::string& path);
/// Those in the folder of a stage; none if an earlier version ran it, or it has not run.
std::optional<StageResults> stage_results_in(const std::string& folder);

/// A repeated key gets a number: "error_gcn", "error_gcn_2". InternalError for an invalid key.
std::vector<Result> with_own_keys(std::vector<Result> results);

}  // namespace cambium
