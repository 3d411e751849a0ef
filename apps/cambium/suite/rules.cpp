#include "apps/cambium/suite/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace suite_detail {

const MlLine* exactly_one(const MlLogFile& log, const std::string& key, std::vector<Finding>& findings) {
  const auto found = log.all(key);
  if (found.empty()) {
    findings.push_back({0, fmt::format("there is no {}; exactly one is asked for", key)});
    return nullptr;
  }
  for (const MlLine* other : found)
    if (other->value != found.front()->value) {
      findings.push_back(
          {other->line, fmt::format("{} is {}, but {} in line {}; exactly one is asked for", key, other->value.dump(),
                                    found.front()->value.dump(), found.front()->line)});
      return nullptr;
    }
  if (found.size() > 1)
    findings.push_back(
        {found[1]->line, fmt::format("{} stands {} times, with equal values", key, found.size()), false});
  return found.front();
}

}  // namespace suite_detail

namespace {

using suite_detail::exactly_one;
using Findings = std::vector<Finding>;

void require_any(const MlLogFile& log, const std::vector<std::string>& keys, Findings& out) {
  if (std::none_of(keys.begin(), keys.end(), [&](const auto& key) { return log.first(key) != nullptr; }))
    out.push_back({0, fmt::format("there is no {}; at least one is asked for", join(keys, " or "))});
}

void require_text(const MlLogFile& log, const std::string& key, const std::vector<std::string>& choices,
                  Findings& out) {
  const MlLine* line = exactly_one(log, key, out);
  if (!line) return;
  const std::string value = line->value.is_string() ? line->value.get<std::string>() : "";
  if (value.empty())
    out.push_back({line->line, fmt::format("{} is {}; it must be a text", key, line->value.dump())});
  else if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
    out.push_back({line->line, fmt::format("{} is '{}'; it must be {}", key, value, join(choices, " or "))});
}

void require_count(const MlLogFile& log, const std::string& key, Findings& out) {
  const MlLine* line = exactly_one(log, key, out);
  if (line && !(line->value.is_number_integer() && line->value.get<std::int64_t>() > 0))
    out.push_back({line->line, fmt::format("{} is {}; it must be a whole number above 0", key, line->value.dump())});
}

void require_number_beside(const MlLogFile& log, const std::string& key, const char* name, double above,
                           Findings& out) {
  for (const MlLine* line : log.all(key)) {
    const Json number = line->metadata.value(name, Json());
    if (!number.is_number())
      out.push_back({line->line, fmt::format("{} has no {} in its metadata", key, name)});
    else if (number.get<double>() < above)
      out.push_back(
          {line->line, fmt::format("{} of {} is {}; it must be {:g} or more", name, key, number.dump(), above)});
  }
}

/// init_start, init_stop, run_start, run_stop follow each other, the first two within half an hour.
void check_times(const MlLogFile& log, Findings& out) {
  constexpr std::int64_t longest_init_ms = 30 * 60 * 1000;
  const MlLine *begin = log.first("init_start"), *ready = exactly_one(log, "init_stop", out),
               *start = exactly_one(log, "run_start", out), *stop = exactly_one(log, "run_stop", out);
  if (begin && ready && ready->time_ms - begin->time_ms > longest_init_ms)
    out.push_back({ready->line, fmt::format("init_stop comes {:.1f} minutes after init_start; 30 are allowed",
                                            static_cast<double>(ready->time_ms - begin->time_ms) / 60000.0)});
  if (begin && ready && ready->time_ms < begin->time_ms)
    out.push_back({ready->line, "init_stop comes before init_start"});
  if (ready && start && (start->time_ms < ready->time_ms || start->line < ready->line))
    out.push_back({start->line, "run_start comes before init_stop"});
  if (start && stop && (stop->time_ms < start->time_ms || stop->line < start->line))
    out.push_back({stop->line, "run_stop comes before run_start"});
  stop = log.last("run_stop");  // of a run that was stopped and went on
  if (!stop) return;
  const Json status = stop->metadata.value("status", Json());
  if (status != "success" && status != "aborted")
    out.push_back({stop->line, fmt::format("status of run_stop is {}; it must be success or aborted", status.dump())});
}

/// Intervals of epochs and evaluations open and close in turn, within the run.
void check_pairs(const MlLogFile& log, const std::string& what, Findings& out) {
  const MlLine* open = nullptr;
  for (const MlLine& line : log.lines) {
    if (line.key == what + "_start") {
      if (open)
        out.push_back({line.line, fmt::format("{0}_start, but that of line {1} has no {0}_stop", what, open->line)});
      open = &line;
    } else if (line.key == what + "_stop") {
      if (!open) out.push_back({line.line, fmt::format("{0}_stop without {0}_start", what)});
      open = nullptr;
    }
  }
  if (open) out.push_back({open->line, fmt::format("{0}_start has no {0}_stop", what)});
}

}  // namespace

std::vector<Finding> check_log(const MlLogFile& log) {
  Findings out = log.findings;
  if (log.lines.empty()) return out;
  require_text(log, "submission_org", {}, out);
  require_text(log, "submission_platform", {}, out);
  require_text(log, "submission_division", {"closed", "open"}, out);
  require_text(log, "submission_status", {"cloud", "onprem", "preview", "research"}, out);
  for (const char* key : {"cache_clear", "init_start", "eval_stop"}) require_any(log, {key}, out);
  require_any(log, {"epoch_start", "block_start"}, out);
  require_any(log, {"epoch_stop", "block_stop"}, out);
  require_any(log, {"eval_start", "block_start"}, out);
  check_times(log, out);
  for (const char* key : {"train_samples", "eval_samples"}) require_count(log, key, out);
  for (const char* key : {"epoch_start", "epoch_stop", "eval_start", "eval_stop"})
    require_number_beside(log, key, "epoch_num", 0.0, out);
  require_number_beside(log, "block_start", "first_epoch_num", 0.0, out);
  require_number_beside(log, "block_start", "epoch_count", 1.0, out);
  for (const char* what : {"epoch", "eval", "block"}) check_pairs(log, what, out);
  const MlLine* division = log.first("submission_division");
  if (division && division->value == "closed") check_closed(log, out);
  return out;
}

}  // namespace cambium::train
