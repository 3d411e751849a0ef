#include "apps/cambium/suite/score.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cambium/suite/reference_points.hpp"
#include "apps/cambium/suite/rules.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace {

Json value_of(const MlLogFile& log, const std::string& key) {
  const MlLine* line = log.first(key);
  return line ? line->value : Json();
}

/// The same value in all logs.
Json common(const std::vector<MlLogFile>& logs, const std::string& key, Score& out) {
  const Json first = value_of(logs.front(), key);
  for (const MlLogFile& log : logs)
    if (const Json other = value_of(log, key); other != first) {
      out.problems.push_back(fmt::format("{} is {} in {} and {} in {}; a score takes runs of one", key, first.dump(),
                                         logs.front().path, other.dump(), log.path));
      break;
    }
  return first;
}

void require_seeds(const std::vector<MlLogFile>& logs, Score& out) {
  for (std::size_t a = 0; a < logs.size(); ++a)
    for (std::size_t b = a + 1; b < logs.size(); ++b)
      if (const Json seed = value_of(logs[a], "seed"); !seed.is_null() && seed == value_of(logs[b], "seed")) {
        out.problems.push_back(fmt::format("seed is {} in {} and in {}; runs of a score have seeds of their own",
                                           seed.dump(), logs[a].path, logs[b].path));
        return;
      }
}

/// The last evaluation before the end of a run.
std::optional<double> epochs_of(const MlLogFile& log) {
  std::optional<double> out;
  for (const MlLine& line : log.lines)
    if ((line.key == "eval_error" || line.key == "eval_accuracy") &&
        line.metadata.value("epoch_num", Json()).is_number())
      out = line.metadata["epoch_num"].get<double>();
  return out;
}

}  // namespace

Score score_of(const std::vector<MlLogFile>& logs, int asked) {
  Score out;
  if (logs.empty()) return out;
  out.runs = static_cast<int>(logs.size());
  if (const Json name = common(logs, "submission_benchmark", out); name.is_string()) out.benchmark = name;
  if (const Json batch = common(logs, "global_batch_size", out); batch.is_number()) out.batch = batch;
  require_seeds(logs, out);
  std::vector<double> seconds;
  for (const MlLogFile& log : logs) {
    const MlLine *start = log.first("run_start"), *stop = log.last("run_stop");
    if (!start || !stop || !log.success()) continue;
    seconds.push_back(1e-3 * static_cast<double>(stop->time_ms - start->time_ms));
    if (const auto epochs = epochs_of(log)) out.epochs.push_back(*epochs);
  }
  out.reached = static_cast<int>(seconds.size());
  const int takes = asked > 0 ? asked : runs_of(out.benchmark);
  if (takes == 0)
    out.problems.push_back(fmt::format("the logs name no benchmark of {}; give with --runs how many runs make a score",
                                       benchmark_names()));
  if (out.runs < takes)
    out.problems.push_back(fmt::format("there are {} runs, and a score{} takes {}", out.runs,
                                       out.benchmark.empty() ? "" : " of " + out.benchmark, takes));
  if (out.runs - out.reached > 1)
    out.problems.push_back(
        fmt::format("{} of {} runs did not reach their target; one may", out.runs - out.reached, out.runs));
  std::sort(seconds.begin(), seconds.end());
  if (!seconds.empty()) {
    out.fastest = seconds.front();
    out.slowest = seconds.back();
  }
  if (out.problems.empty() && out.reached == out.runs) out.seconds = olympic_mean(seconds);
  if (out.problems.empty() && out.reached == out.runs - 1 && out.reached > 1) {  // the slowest is dropped already
    double sum = 0.0;
    for (std::size_t k = 1; k < seconds.size(); ++k) sum += seconds[k];
    out.seconds = sum / static_cast<double>(seconds.size() - 1);
  }
  return out;
}

}  // namespace cambium::train
