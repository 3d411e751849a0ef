#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cambium/suite/mllog_lines.hpp"

namespace cambium::train::test {

using Json = nlohmann::json;

/// A log that keeps the rules, line by line, so that a test can damage one.
struct LogText {
  std::vector<Json> lines;
  std::int64_t now = 1'700'000'000'000;

  void add(const char* event, const std::string& key, Json value, Json metadata = Json::object()) {
    lines.push_back({{"namespace", ""},
                     {"time_ms", now += 1000},
                     {"event_type", event},
                     {"key", key},
                     {"value", std::move(value)},
                     {"metadata", std::move(metadata)}});
  }
  void point(const std::string& key, Json value, Json metadata = Json::object()) {
    add("POINT_IN_TIME", key, std::move(value), std::move(metadata));
  }

  /// Of the line of this key, the first one.
  Json& of(const std::string& key) {
    for (Json& line : lines)
      if (line["key"] == key) return line;
    throw std::runtime_error("no line " + key);
  }
  void remove(const std::string& key) {
    std::erase_if(lines, [&](const Json& line) { return line["key"] == key; });
  }
  std::string text() const {
    std::string out = "cambium 0.1\n";
    for (const Json& line : lines) out += "  :::MLLOG " + line.dump() + "\n";
    return out;
  }
  MlLogFile log(const std::string& path = "log.txt") const { return mllog_of(text(), path); }
};

inline LogText good_log(const std::string& division = "open", int seed = 1, int epochs = 3, bool success = true) {
  LogText out;
  out.point("submission_benchmark", "cosmoflow");
  out.point("submission_org", "mine");
  out.point("submission_platform", "laptop");
  out.point("submission_division", division);
  out.point("submission_status", "research");
  out.point("number_of_nodes", 1);
  out.point("accelerators_per_node", 0);
  out.point("cache_clear", true);
  out.add("INTERVAL_START", "init_start", nullptr);
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{{"global_batch_size", 32},
                                                                            {"train_samples", 2000},
                                                                            {"eval_samples", 200},
                                                                            {"seed", seed},
                                                                            {"opt_name", "sgd"},
                                                                            {"opt_base_learning_rate", 1e-3}})
    out.point(key, value);
  if (division == "closed") {
    out.point("opt_learning_rate_warmup_epochs", 2);
    out.point("opt_learning_rate_warmup_factor", 4.0);
    out.point("opt_learning_rate_decay_boundary_epochs", {4, 6});
    out.point("opt_learning_rate_decay_factor", {0.25, 0.0625});
    out.point("dropout", 0.5);
  }
  out.add("INTERVAL_END", "init_stop", nullptr);
  out.add("INTERVAL_START", "run_start", nullptr);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const Json where{{"epoch_num", epoch}};
    out.add("INTERVAL_START", "epoch_start", nullptr, where);
    out.add("INTERVAL_END", "epoch_stop", nullptr, where);
    out.add("INTERVAL_START", "eval_start", nullptr, where);
    out.point("eval_error", epoch == epochs && success ? 0.12 : 0.3, where);
    out.add("INTERVAL_END", "eval_stop", nullptr, where);
  }
  out.add("INTERVAL_END", "run_stop", nullptr, {{"status", success ? "success" : "aborted"}});
  return out;
}

}  // namespace cambium::train::test
