#include "apps/cambium/suite/suite_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "apps/cambium/suite/reference_points.hpp"
#include "apps/cambium/suite/rules.hpp"
#include "core/base/text.hpp"

namespace cambium::train {

using Json = nlohmann::json;

namespace {

std::int64_t whole_number(const MlLogFile& log, const char* key) {
  const MlLine* line = log.first(key);
  return line && line->value.is_number_integer() ? line->value.get<std::int64_t>() : 0;
}

std::string benchmark_of(const MlLogFile& log) {
  const MlLine* line = log.first("submission_benchmark");
  return line && line->value.is_string() ? line->value.get<std::string>() : "";
}

double seconds_between(const MlLine* first, const MlLine* last) {
  return first && last ? 1e-3 * static_cast<double>(last->time_ms - first->time_ms) : 0.0;
}

/// Adds this log's phases; names keep the order in which they came.
void add_phases(const MlLogFile& log, double share, std::vector<std::pair<std::string, double>>& out) {
  const auto add = [&](const std::string& name, double seconds) {
    auto found = std::find_if(out.begin(), out.end(), [&](const auto& p) { return p.first == name; });
    if (found == out.end()) found = out.insert(out.end(), {name, 0.0});
    found->second += share * seconds;
  };
  add("staging", seconds_between(log.first("init_start"), log.first("init_stop")));
  for (const MlLine* line : log.all("phase_seconds"))
    if (const Json name = line->metadata.value("phase", Json()); name.is_string() && line->value.is_number())
      add(name.get<std::string>(), line->value.get<double>());
}

void add_times(SetSummary& out) {
  const double share = 1.0 / static_cast<double>(out.set.logs.size());
  const MlLine *first = nullptr, *last = nullptr;
  for (const MlLogFile& log : out.set.logs) {
    const MlLine *start = log.first("run_start"), *stop = log.last("run_stop");
    out.wall += share * seconds_between(start, stop);
    if (start && (!first || start->time_ms < first->time_ms)) first = start;
    if (stop && (!last || stop->time_ms > last->time_ms)) last = stop;
    add_phases(log, share, out.phases);
    add_phase_roofs(log, out.roofs);
  }
  out.all_instances_seconds = seconds_between(first, last);
}

std::string seconds_text(const Score& score) { return score.seconds ? fmt::format("{:.3f}", *score.seconds) : "none"; }

std::string epochs_text(const SetSummary& s) {
  return s.score.epochs.empty() ? "-" : fmt::format("{:.2f} +- {:.2f}", s.epochs_mean, s.epochs_sd);
}

/// Times of a set over those of the smallest batch of the same benchmark and ranks, which comes first.
std::string cost_text(const std::vector<SetSummary>& all, const SetSummary& s) {
  const auto first = std::find_if(all.begin(), all.end(), [&](const SetSummary& other) {
    return other.set.benchmark == s.set.benchmark && other.set.ranks == s.set.ranks;
  });
  if (!s.score.seconds || !first->score.seconds || *first->score.seconds <= 0.0) return "-";
  return fmt::format("{:.2f}", *s.score.seconds / *first->score.seconds);
}

/// The last two columns of a phase: fraction of its roofline and binding kind, and the counted fraction of its time.
std::string roof_text(const SetSummary& s, const std::string& phase) {
  if (s.roofs.empty()) return "";
  const auto found = s.roofs.find(phase);
  if (found == s.roofs.end() || found->second.counted <= 0.0) return " - | - |";
  const PhaseRoof& roof = found->second;
  return fmt::format(" {:.0f} ({}) | {:.0f} |", 100.0 * roof.share(), roof.binding(),
                     100.0 * roof.counted / roof.seconds);
}

std::string phase_table(const SetSummary& s) {
  const bool roofs = !s.roofs.empty();
  std::string out = fmt::format("| phase | s | % of the run |{}\n|---|---|---|{}\n",
                                roofs ? " % of its roof | % counted |" : "", roofs ? "---|---|" : "");
  for (const auto& [name, seconds] : s.phases) {
    const bool before = name == "staging";
    out += before ? fmt::format("| staging, before the run | {:.3f} | |", seconds)
                  : fmt::format("| {} | {:.3f} | {:.1f} |", name, seconds, s.wall > 0 ? 100.0 * seconds / s.wall : 0);
    out += roof_text(s, name) + "\n";
  }
  out += fmt::format("| sum | {:.3f} | {:.1f} |{}\n\n", s.explained() * s.wall, 100.0 * s.explained(),
                     roofs ? " | |" : "");
  if (roofs)
    out +=
        "A roof is how long the operations, bytes, messages or files of a phase take at the measured peaks of the "
        "machine, "
        "over how\nlong they took, of what is counted; more than 100 means that data stay in caches.\n\n";
  return out;
}

/// States that the rules are kept, if no log breaks one.
std::string rules_text(const std::vector<SetSummary>& summaries) {
  std::size_t logs = 0;
  int against = 0;
  for (const SetSummary& s : summaries) {
    logs += s.set.logs.size();
    against += s.against_rules;
  }
  if (logs > 0 && against == 0) return "Logged by the rules of MLPerf HPC 3.0";
  return fmt::format("{} of {} logs break rules of MLPerf HPC 3.0 (`cambium suite check` names them)", against, logs);
}

std::string title_of(const RunSet& set) {
  return fmt::format("{}, batch {}{}", set.benchmark.empty() ? "no benchmark" : set.benchmark, set.batch,
                     set.ranks > 0 ? fmt::format(", {} rank{}", set.ranks, set.ranks == 1 ? "" : "s") : "");
}

}  // namespace

std::vector<RunSet> sets_of(std::vector<MlLogFile> logs) {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, RunSet> sets;
  for (MlLogFile& log : logs) {
    const auto benchmark = benchmark_of(log);
    const std::int64_t batch = whole_number(log, "global_batch_size"), ranks = whole_number(log, "ranks");
    RunSet& set = sets[{benchmark, ranks, batch}];
    set.benchmark = benchmark;
    set.batch = batch;
    set.ranks = ranks;
    set.logs.push_back(std::move(log));
  }
  std::vector<RunSet> out;
  for (auto& [key, set] : sets) out.push_back(std::move(set));
  return out;
}

double SetSummary::explained() const {
  double sum = 0.0;
  for (const auto& [name, seconds] : phases)
    if (name != "staging") sum += seconds;
  return wall > 0.0 ? sum / wall : 0.0;
}

std::vector<std::pair<std::string, double>> SetSummary::split() const {
  static const std::map<std::string, std::size_t> part_of{{"staging", 0}, {"data", 0},     {"reduce", 2},
                                                          {"signals", 2}, {"validate", 3}, {"output", 3}};
  std::vector<std::pair<std::string, double>> out{
      {"staging", 0.0}, {"computing", 0.0}, {"communication", 0.0}, {"evaluation", 0.0}};
  for (const auto& [name, seconds] : phases) {
    const auto found = part_of.find(name);
    out[found == part_of.end() ? 1 : found->second].second += seconds;
  }
  return out;
}

SetSummary summary_of(RunSet set, int asked) {
  SetSummary out;
  out.set = std::move(set);
  out.score = score_of(out.set.logs, asked);
  for (const MlLogFile& log : out.set.logs) {
    const auto findings = check_log(log);
    out.resumed += log.all("run_start").size() > 1;
    out.against_rules += std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.fails; });
  }
  if (const auto& epochs = out.score.epochs; !epochs.empty()) {
    out.epochs_mean = olympic_mean(epochs);
    out.epochs_sd = deviation_of(epochs);
  }
  if (!out.set.logs.empty()) add_times(out);
  return out;
}

Json to_json(const std::vector<SetSummary>& summaries) {
  Json sets = Json::array();
  for (const SetSummary& s : summaries) {
    Json phases = Json::object();
    for (const auto& [name, seconds] : s.phases) phases[name] = seconds;
    Json split = Json::object(), roofs = Json::object();
    for (const auto& [name, seconds] : s.split()) split[name] = seconds;
    for (const auto& [name, roof] : s.roofs)
      roofs[name] = {
          {"share", roof.share()}, {"roof", roof.binding()}, {"seconds", roof.seconds}, {"counted", roof.counted}};
    sets.push_back({{"benchmark", s.set.benchmark},
                    {"batch", s.set.batch},
                    {"ranks", s.set.ranks},
                    {"runs", s.score.runs},
                    {"reached", s.score.reached},
                    {"against_rules", s.against_rules},
                    {"resumed", s.resumed},
                    {"score_seconds", s.score.seconds ? Json(*s.score.seconds) : Json()},
                    {"fastest", s.score.fastest},
                    {"slowest", s.score.slowest},
                    {"epochs", s.score.epochs},
                    {"epochs_mean", s.epochs_mean},
                    {"epochs_deviation", s.epochs_sd},
                    {"all_instances_seconds", s.all_instances_seconds},
                    {"wall_seconds", s.wall},
                    {"phases", std::move(phases)},
                    {"split", std::move(split)},
                    {"roofs", std::move(roofs)},
                    {"explained", s.explained()},
                    {"problems", s.score.problems}});
  }
  return {{"rules", rules_text(summaries)}, {"sets", std::move(sets)}};
}

std::string page_of(const std::vector<SetSummary>& summaries) {
  std::string out =
      "# Time to quality\n" + rules_text(summaries) +
      "; no results of MLPerf. A score is the mean of run_start to run_stop without the\nfastest and the slowest run; "
      "epochs are those to the target (mean without extremes, standard deviation of all); cost is the score over that "
      "of\nthe smallest batch.\n\n"
      "| runs of | ranks | batch | runs | reached | against the rules | epochs | score (s) | cost |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const SetSummary& s : summaries)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", s.set.benchmark, s.set.ranks, s.set.batch,
                       s.score.runs, s.score.reached, s.against_rules, epochs_text(s), seconds_text(s.score),
                       cost_text(summaries, s));
  for (const SetSummary& s : summaries) {
    out += fmt::format("\n## {}\n", title_of(s.set));
    for (const auto& problem : s.score.problems) out += "No score: " + problem + ".\n\n";
    out += fmt::format("{} runs from the first start to the last end: {:.3f} s.{}\n\n", s.score.runs,
                       s.all_instances_seconds,
                       s.resumed > 0 ? fmt::format(" {} stopped and went on: the pause counts.", s.resumed) : "");
    out += phase_table(s);
    std::vector<std::string> parts;
    for (const auto& [name, seconds] : s.split()) parts.push_back(fmt::format("{} {:.3f} s", name, seconds));
    out += fmt::format("With what came before the run: {}.\n", fmt::join(parts, ", "));
  }
  return out;
}

}  // namespace cambium::train
