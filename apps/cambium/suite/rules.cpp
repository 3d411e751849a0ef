#include "apps/cambium/suite/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "apps/cambium/suite/benchmark_rules.hpp"
#include "core/base/text.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace {

using Findings = std::vector<Finding>;

bool same(const Json& a, const Json& b) {
  if (a == b) return true;
  const auto x = number_in(a), y = number_in(b);
  return x && y && *x == *y;
}

/// Exactly one line of this key, or several of equal values (a warning). Null when there is none or they differ.
const MlLine* exactly_one(const MlLogFile& log, const std::string& key, Findings& out) {
  const auto found = log.all(key);
  if (found.empty()) {
    out.push_back({0, fmt::format("there is no {}; exactly one is required", key)});
    return nullptr;
  }
  for (const MlLine* other : found)
    if (!same(other->value, found.front()->value)) {
      out.push_back({other->line, fmt::format("{} is {}, but {} in line {}; exactly one is required", key,
                                              other->value.dump(), found.front()->value.dump(), found.front()->line)});
      return nullptr;
    }
  if (found.size() > 1)
    out.push_back({found[1]->line, fmt::format("{} occurs {} times, with equal values", key, found.size()), false});
  return found.front();
}

void require_any(const MlLogFile& log, const std::vector<std::string>& keys, Findings& out) {
  if (std::none_of(keys.begin(), keys.end(), [&](const auto& key) { return log.first(key) != nullptr; }))
    out.push_back({0, fmt::format("there is no {}; at least one is required", join(keys, " or "))});
}

void require_text(const MlLogFile& log, const std::string& key, const std::vector<std::string>& choices,
                  Findings& out) {
  const MlLine* line = exactly_one(log, key, out);
  if (!line) return;
  const std::string value = line->value.is_string() ? line->value.get<std::string>() : "";
  if (value.empty())
    out.push_back({line->line, fmt::format("{} is {}; it must be a text", key, line->value.dump()),
                   line->value == "" || !choices.empty()});
  else if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
    out.push_back({line->line, fmt::format("{} is '{}'; it must be {}", key, value, join(choices, " or "))});
}

void require_count(const MlLogFile& log, const std::string& key, Findings& out) {
  const MlLine* line = exactly_one(log, key, out);
  if (line && !(line->value.is_number_integer() && line->value.get<std::int64_t>() > 0))
    out.push_back({line->line, fmt::format("{} is {}; it must be a whole number above 0", key, line->value.dump()),
                   line->value == ""});
}

void require_beside(const MlLogFile& log, const std::string& key, const char* name, Findings& out) {
  for (const MlLine* line : log.all(key))
    if (!line->metadata.contains(name))
      out.push_back({line->line, fmt::format("{} has no {} in its metadata", key, name)});
}

/// Intervals begun and ended by the lines so far; keys are checked in the order of the log.
class Order {
 public:
  explicit Order(Findings& out) : out_(out) {}
  void read(const MlLine& line) {
    const std::string& key = line.key;
    if (key == "init_start") begin_init(line);
    if (key == "init_stop") end_init(line);
    if (key == "run_start" && !ready_) say(line, "run_start comes before init_stop");
    if (key == "run_stop" && !running_) say(line, "run_stop comes before run_start");
    if (key == "block_start" && !running_) say(line, "block_start comes before run_start");
    if (key == "staging_stop" && !staging_) say(line, "staging_stop comes before staging_start");
    if (key == "run_start") running_ = true;
    if (key == "staging_start") staging_ = true;
  }

 private:
  Findings& out_;
  bool started_ = false, ready_ = false, running_ = false, staging_ = false;
  std::int64_t first_ms_ = std::numeric_limits<std::int64_t>::max();

  void say(const MlLine& line, const std::string& text) { out_.push_back({line.line, text}); }
  void begin_init(const MlLine& line) {
    if (ready_ || running_) say(line, fmt::format("init_start comes after {}", ready_ ? "init_stop" : "run_start"));
    started_ = true;
    first_ms_ = std::min(first_ms_, line.time_ms);
  }
  void end_init(const MlLine& line) {
    constexpr std::int64_t longest_ms = 30 * 60 * 1000;
    if (!started_) say(line, "init_stop comes before init_start");
    if (running_) say(line, "init_stop comes after run_start");
    if (started_ && line.time_ms - first_ms_ >= longest_ms)
      say(line, fmt::format("init_stop comes {:.1f} minutes after init_start; less than 30 are allowed",
                            static_cast<double>(line.time_ms - first_ms_) / 60000.0));
    ready_ = true;
  }
};

/// Times that fall and a status of another name: the checker allows them, a score could not use them.
void warn_of_times(const MlLogFile& log, Findings& out) {
  const MlLine* before = nullptr;
  for (const char* key : {"init_start", "init_stop", "run_start", "run_stop"}) {
    const MlLine* line = log.first(key);
    if (before && line && line->time_ms < before->time_ms)
      out.push_back({line->line, fmt::format("{} has an earlier time than {}", key, before->key), false});
    if (line) before = line;
  }
  const MlLine* stop = log.last("run_stop");  // of a run that was stopped and went on
  if (!stop || !stop->metadata.contains("status")) return;
  const Json& status = stop->metadata["status"];
  if (status != "success" && status != "aborted")
    out.push_back(
        {stop->line, fmt::format("status of run_stop is {}; success or aborted is usual", status.dump()), false});
}

/// Warns of intervals that do not open and close alternately: the checker allows them. One left open at the end of the
/// run is allowed.
void warn_of_pairs(const MlLogFile& log, const std::string& what, Findings& out) {
  const MlLine* open = nullptr;
  for (const MlLine& line : log.lines) {
    if (line.key == what + "_start") {
      if (open)
        out.push_back(
            {line.line, fmt::format("{0}_start, but that of line {1} has no {0}_stop", what, open->line), false});
      open = &line;
    } else if (line.key == what + "_stop") {
      if (!open) out.push_back({line.line, fmt::format("{0}_stop without {0}_start", what), false});
      open = nullptr;
    }
  }
}

void check_intervals(const MlLogFile& log, Findings& out) {
  for (const char* key : {"cache_clear", "init_start"}) require_any(log, {key}, out);
  for (const char* key : {"init_stop", "run_start", "run_stop"}) exactly_one(log, key, out);
  require_any(log, {"epoch_start", "block_start"}, out);
  require_any(log, {"epoch_stop", "block_stop"}, out);
  require_any(log, {"eval_start", "block_start"}, out);
  require_any(log, {"eval_stop", "block_stop"}, out);
  Order order(out);
  for (const MlLine& line : log.lines) order.read(line);
  require_beside(log, "run_stop", "status", out);
  for (const char* key : {"epoch_start", "epoch_stop", "eval_start", "eval_stop"})
    require_beside(log, key, "epoch_num", out);
  for (const char* key : {"block_start", "block_stop"}) require_beside(log, key, "first_epoch_num", out);
  require_beside(log, "block_start", "epoch_count", out);
  for (const MlLine* line : log.all("block_start"))
    if (const Json count = line->metadata.value("epoch_count", Json(1)); number_in(count).value_or(0.0) <= 0.0)
      out.push_back({line->line, fmt::format("epoch_count of block_start is {}; it must be above 0", count.dump())});
  warn_of_times(log, out);
  for (const char* what : {"epoch", "eval", "block"}) warn_of_pairs(log, what, out);
}

void check_key(const MlLogFile& log, const KeyRule& rule, Findings& out) {
  auto lines = log.all(rule.key);
  if (rule.needed) {
    const MlLine* line = exactly_one(log, rule.key, out);
    lines.clear();
    if (line) lines.push_back(line);
  }
  for (const MlLine* line : lines)
    if (!rule.bound.holds(line->value))
      out.push_back(
          {line->line, fmt::format("{} is {}; it must be {}", rule.key, line->value.dump(), rule.bound.words)});
}

void check_target(const MlLogFile& log, const Target& target, Findings& out) {
  std::optional<double> best;
  bool reached = false;
  for (const MlLine* line : log.all(target.key)) {
    if (!line->metadata.contains("epoch_num"))
      out.push_back({line->line, fmt::format("{} has no epoch_num in its metadata", target.key)});
    const auto value = number_in(line->value);
    if (!value) {
      out.push_back({line->line, fmt::format("{} is {}; it must be a number", target.key, line->value.dump())});
      continue;
    }
    reached = reached || target.reached(*value);
    if (!best || (target.falls ? *value < *best : *value > *best)) best = *value;
  }
  if (log.all(target.key).empty())
    out.push_back({0, fmt::format("there is no {}; at least one is required", target.key)});
  else if (best && !reached)
    out.push_back({0, fmt::format("no {} is {} {:g}; the {} is {:g}", target.key,
                                  target.falls ? "above 0 and at most" : "at most 1 and at least", target.value,
                                  target.falls ? "lowest" : "highest", *best)});
}

/// For the benchmark that the log names: the target, and in the division closed all its keys.
void check_benchmark(const MlLogFile& log, bool closed, Findings& out) {
  if (closed)
    for (const KeyRule& rule : keys_of_closed()) check_key(log, rule, out);
  const MlLine* line = exactly_one(log, "submission_benchmark", out);
  if (!line) return;
  const Benchmark* benchmark = line->value.is_string() ? benchmark_named(line->value.get<std::string>()) : nullptr;
  if (!benchmark) {
    out.push_back({line->line, fmt::format("submission_benchmark is {}; the benchmarks are {}", line->value.dump(),
                                           benchmark_names())});
    return;
  }
  for (const KeyRule& rule : closed ? benchmark->keys : std::vector<KeyRule>()) {
    check_key(log, rule, out);
    if (const MlLine* value = log.first(rule.key); value && benchmark->name == "deepcam")
      for (const KeyRule& beside : keys_beside(rule.key, value->value)) check_key(log, beside, out);
  }
  check_target(log, benchmark->target, out);
}

}  // namespace

std::vector<Finding> check_log(const MlLogFile& log) {
  Findings out = log.findings;
  if (log.lines.empty()) return out;
  require_text(log, "submission_org", {}, out);
  require_text(log, "submission_platform", {}, out);
  require_text(log, "submission_division", {"closed", "open"}, out);
  require_text(log, "submission_status", {"cloud", "onprem", "preview", "research"}, out);
  check_intervals(log, out);
  for (const char* key : {"train_samples", "eval_samples"}) require_count(log, key, out);
  const MlLine* division = log.first("submission_division");
  if (division && (division->value == "closed" || division->value == "open"))
    check_benchmark(log, division->value == "closed", out);
  return out;
}

}  // namespace cambium::train
