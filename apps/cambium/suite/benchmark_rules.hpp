#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cambium::train {

/// Allowed values, also in words. Values compare as in the checker's language: true is 1, false is 0.
struct Bound {
  std::function<bool(const nlohmann::json&)> holds;
  std::string words;
};

/// One key of a log. A required key occurs exactly once, or several times with equal values; others may be absent.
struct KeyRule {
  std::string key;
  Bound bound;
  bool needed = true;
};

/// The error falls to, or the accuracy rises to, this value in at least one evaluation.
struct Target {
  std::string key;
  double value;
  bool falls;
  bool reached(double figure) const;
};

/// Requirements of MLPerf HPC 3.0 on the logs of one benchmark beyond the keys that all logs have: `keys` in the
/// division closed, `target` in both divisions (mlcommons/logging, compliance checker, usage hpc, ruleset 3.0.0).
struct Benchmark {
  std::string name;
  int runs;  ///< that a score takes
  std::vector<KeyRule> keys;
  Target target;
};

const std::vector<Benchmark>& benchmarks();
/// Null for an unknown name.
const Benchmark* benchmark_named(const std::string& name);
/// Keys of the division closed that every benchmark has.
const std::vector<KeyRule>& keys_of_closed();
/// Keys of the division closed that depend on the value of another one (deepcam: `opt_name`, `scheduler_type`).
const std::vector<KeyRule>& keys_beside(const std::string& key, const nlohmann::json& value);

/// A number, or true and false as 1 and 0; none for anything else.
std::optional<double> number_in(const nlohmann::json& value);

}  // namespace cambium::train
