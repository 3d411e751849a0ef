#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "apps/cambium/suite/rules.hpp"
#include "core/base/text.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace {

/// What a value must be, and in words.
struct Bound {
  std::function<bool(const Json&)> holds;
  std::string words;
};

Bound at_least(double least) {
  return {[=](const Json& v) { return v.is_number() && v.get<double>() >= least; },
          fmt::format("a number of at least {:g}", least)};
}
Bound above(double least) {
  return {[=](const Json& v) { return v.is_number() && v.get<double>() > least; },
          fmt::format("a number above {:g}", least)};
}
Bound within(double first, double end) {
  return {[=](const Json& v) { return v.is_number() && v.get<double>() >= first && v.get<double>() < end; },
          fmt::format("a number from {:g} to below {:g}", first, end)};
}
Bound exactly(Json value) {
  return {[=](const Json& v) {
            return v == value || (v.is_number() && value.is_number() && v.get<double>() == value.get<double>());
          },
          value.dump()};
}
Bound one_of(const std::vector<std::string>& names) {
  return {[=](const Json& v) {
            return v.is_string() && std::find(names.begin(), names.end(), v.get<std::string>()) != names.end();
          },
          join(names, " or ")};
}
Bound numbers(std::optional<std::size_t> count) {
  return {[=](const Json& v) {
            return v.is_array() && (!count || v.size() == *count) &&
                   std::all_of(v.begin(), v.end(), [](const Json& x) { return x.is_number(); });
          },
          count ? fmt::format("a list of {} numbers", *count) : std::string("a list of numbers")};
}
Bound anything() {
  return {[](const Json& v) { return !v.is_null(); }, "given"};
}

struct KeyRule {
  std::string key;
  Bound bound;
  bool needed = true;
};

/// The error falls to, or the accuracy rises to, a target in at least one evaluation.
struct Target {
  std::string key;
  double value;
  bool falls;
};

struct Benchmark {
  std::string name;
  int runs;
  std::vector<KeyRule> keys;
  Target target;
};

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all{{"cosmoflow",
                                           10,
                                           {{"opt_name", one_of({"sgd", "SGD"})},
                                            {"opt_base_learning_rate", above(0.0)},
                                            {"opt_learning_rate_warmup_epochs", at_least(0.0)},
                                            {"opt_learning_rate_warmup_factor", at_least(0.0)},
                                            {"opt_learning_rate_decay_boundary_epochs", numbers({})},
                                            {"opt_learning_rate_decay_factor", anything()},
                                            {"dropout", within(0.0, 1.0), false},
                                            {"opt_weight_decay", at_least(0.0), false}},
                                           {"eval_error", 0.124, true}},
                                          {"deepcam",
                                           5,
                                           {{"gradient_accumulation_frequency", at_least(1.0)},
                                            {"seed", above(0.0)},
                                            {"batchnorm_group_size", at_least(1.0)},
                                            {"opt_name", one_of({"Adam", "AdamW", "LAMB"})},
                                            {"opt_lr", above(0.0)},
                                            {"opt_betas", numbers(2)},
                                            {"opt_eps", exactly(1e-6)},
                                            {"scheduler_type", one_of({"multistep", "cosine_annealing"})},
                                            {"scheduler_lr_warmup_steps", at_least(0.0)},
                                            {"scheduler_lr_warmup_factor", at_least(1.0)},
                                            {"train_samples", exactly(121266)},
                                            {"eval_samples", exactly(15158)}},
                                           {"eval_accuracy", 0.82, false}},
                                          {"oc20",
                                           5,
                                           {{"opt_name", one_of({"AdamW"})},
                                            {"opt_base_learning_rate", above(0.0)},
                                            {"opt_learning_rate_warmup_steps", at_least(0.0)},
                                            {"opt_learning_rate_warmup_factor", at_least(0.0)},
                                            {"opt_learning_rate_decay_boundary_steps", numbers({})},
                                            {"opt_learning_rate_decay_factor", anything()}},
                                           {"eval_error", 0.036, true}},
                                          {"openfold",
                                           10,
                                           {{"opt_name", anything()}, {"opt_base_learning_rate", above(0.0)}},
                                           {"eval_accuracy", 0.8, false}}};
  return all;
}

const Benchmark* benchmark_named(const std::string& name) {
  for (const Benchmark& b : benchmarks())
    if (b.name == name) return &b;
  return nullptr;
}

void check_key(const MlLogFile& log, const KeyRule& rule, std::vector<Finding>& out) {
  if (!rule.needed && !log.first(rule.key)) return;
  const MlLine* line = suite_detail::exactly_one(log, rule.key, out);
  if (line && !rule.bound.holds(line->value))
    out.push_back({line->line, fmt::format("{} is {}; it must be {}", rule.key, line->value.dump(), rule.bound.words)});
}

void check_target(const MlLogFile& log, const Target& target, std::vector<Finding>& out) {
  const auto lines = log.all(target.key);
  std::optional<double> best;
  for (const MlLine* line : lines) {
    if (!line->metadata.contains("epoch_num"))
      out.push_back({line->line, fmt::format("{} has no epoch_num in its metadata", target.key)});
    if (!line->value.is_number()) {
      out.push_back({line->line, fmt::format("{} is {}; it must be a number", target.key, line->value.dump())});
      continue;
    }
    const double value = line->value.get<double>();
    if (target.falls && value <= 0.0)
      out.push_back({line->line, fmt::format("{} is {:g}; it must be above 0", target.key, value)});
    if (!best || (target.falls ? value < *best : value > *best)) best = value;
  }
  if (!best) {
    out.push_back({0, fmt::format("there is no {}; at least one is asked for", target.key)});
    return;
  }
  if (log.success() && (target.falls ? *best > target.value : *best < target.value))
    out.push_back(
        {log.last("run_stop")->line, fmt::format("run_stop says success, but the best {} is {:g} and the target {:g}",
                                                 target.key, *best, target.value)});
}

}  // namespace

int runs_of(const std::string& benchmark) {
  const Benchmark* found = benchmark_named(benchmark);
  return found ? found->runs : 0;
}

std::string benchmark_names() {
  std::vector<std::string> names;
  for (const Benchmark& b : benchmarks()) names.push_back(b.name);
  return join(names);
}

void check_closed(const MlLogFile& log, std::vector<Finding>& out) {
  for (const KeyRule& rule :
       {KeyRule{"number_of_nodes", at_least(1.0)}, KeyRule{"accelerators_per_node", at_least(0.0)},
        KeyRule{"global_batch_size", at_least(1.0)}})
    check_key(log, rule, out);
  const MlLine* line = suite_detail::exactly_one(log, "submission_benchmark", out);
  if (!line) return;
  const Benchmark* benchmark = line->value.is_string() ? benchmark_named(line->value.get<std::string>()) : nullptr;
  if (!benchmark) {
    out.push_back({line->line, fmt::format("submission_benchmark is {}; the division closed has {}", line->value.dump(),
                                           benchmark_names())});
    return;
  }
  for (const KeyRule& rule : benchmark->keys) check_key(log, rule, out);
  check_target(log, benchmark->target, out);
}

}  // namespace cambium::train
