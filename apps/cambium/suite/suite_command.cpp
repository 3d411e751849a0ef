#include "apps/cambium/suite/suite_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "apps/cambium/suite/reference_points.hpp"
#include "apps/cambium/suite/rules.hpp"
#include "apps/cambium/suite/score.hpp"
#include "apps/cambium/suite/suite_report.hpp"
#include "apps/cambium/suite/suite_run.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/arguments.hpp"

namespace cambium::train {

namespace {

using Json = nlohmann::json;

struct Given {
  std::vector<std::string> logs;
  std::string points, into = ".";
  int runs = 0;
  bool json = false;
};

/// Path of a log; for a run directory, that of its log.
std::string log_path(const std::string& given) {
  const std::filesystem::path path = given;
  return std::filesystem::is_directory(path) ? (path / "log.txt").string() : given;
}

/// True when the log keeps the rules.
bool report_log(const MlLogFile& log, Json& out, Log& say) {
  const auto findings = check_log(log);
  const auto failures = std::count_if(findings.begin(), findings.end(), [](const auto& f) { return f.fails; });
  Json list = Json::array();
  say.info(failures == 0 ? fmt::format("{}: logged by the rules of MLPerf HPC 3.0", log.path)
                         : fmt::format("{}: {} point{} against the rules of MLPerf HPC 3.0", log.path, failures,
                                       failures == 1 ? "" : "s"));
  for (const Finding& f : findings) {
    say.info(fmt::format("  {}{}{}", f.fails ? "" : "warning: ", f.line > 0 ? fmt::format("line {}: ", f.line) : "",
                         f.text));
    list.push_back({{"line", f.line}, {"text", f.text}, {"fails", f.fails}});
  }
  out["logs"].push_back({{"path", log.path}, {"failures", failures}, {"findings", std::move(list)}});
  return failures == 0;
}

bool report_score(const Score& score, Json& out, Log& say) {
  for (const auto& problem : score.problems) say.info("no score: " + problem);
  if (score.seconds)
    say.info(fmt::format("score{}: {:.3f} s, the mean of {} runs without the fastest and the slowest (batch {})",
                         score.benchmark.empty() ? "" : " of " + score.benchmark, *score.seconds, score.runs,
                         score.batch));
  out["score"] = {{"runs", score.runs},         {"reached", score.reached},
                  {"batch", score.batch},       {"fastest", score.fastest},
                  {"slowest", score.slowest},   {"epochs", score.epochs},
                  {"problems", score.problems}, {"seconds", score.seconds ? Json(*score.seconds) : Json()}};
  return score.problems.empty();
}

/// Reports epochs to the target, compared with the reference.
bool report_convergence(const Score& score, const Given& given, Json& out, Log& say) {
  const int runs = given.runs > 0 ? given.runs : runs_of(score.benchmark);
  if (runs < 3)
    throw InputError(fmt::format("the logs name no benchmark of {}; give with --runs how many runs make a score",
                                 benchmark_names()));
  const auto points = read_reference_points(given.points, runs);
  if (score.epochs.empty()) {
    say.info("no convergence: no run reached its target");
    return false;
  }
  const auto point = point_at(points, score.batch, runs);
  if (!point) {
    say.info(fmt::format("no convergence: batch {} is outside of the reference points, {} to {}", score.batch,
                         points.front().batch, points.back().batch));
    return false;
  }
  const Convergence found = compare_convergence(score.epochs, *point);
  say.info(fmt::format("convergence: {:.4f} epochs, the reference {:.4f} and at least {:.4f} ({}): {}", found.mean,
                       point->mean, point->least_mean, point->name,
                       found.too_fast ? "faster than chance allows"
                       : found.time_factor > 1.0
                           ? fmt::format("faster within chance, times are scaled by {:.4f}", found.time_factor)
                           : std::string("as the reference or slower")));
  out["convergence"] = {{"mean", found.mean},
                        {"reference_mean", point->mean},
                        {"least_mean", point->least_mean},
                        {"deviation", point->deviation},
                        {"too_fast", found.too_fast},
                        {"time_factor", found.time_factor}};
  return !found.too_fast;
}

ExitCode check(const Given& given, Log& say) {
  std::vector<MlLogFile> logs;
  for (const auto& path : given.logs) logs.push_back(read_mllog(log_path(path)));
  Json out;
  bool good = true;
  for (const MlLogFile& log : logs) good = report_log(log, out, say) && good;
  if (logs.size() > 1 || given.runs > 0 || !given.points.empty()) {
    const Score score = score_of(logs, given.runs);
    good = report_score(score, out, say) && good;
    if (!given.points.empty()) good = report_convergence(score, given, out, say) && good;
  }
  if (given.json) say.info(out.dump());
  return good ? ExitCode::done : ExitCode::bad_input;
}

/// Logs of runs, of run directories and of all runs in the folder of a sweep, in the order of their names.
std::vector<std::string> log_paths(const std::vector<std::string>& given) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  for (const std::string& path : given) {
    std::vector<std::string> inside;
    if (fs::is_directory(path) && !fs::exists(fs::path(path) / "log.txt"))
      for (const auto& entry : fs::directory_iterator(path))
        if (fs::exists(entry.path() / "log.txt")) inside.push_back((entry.path() / "log.txt").string());
    std::sort(inside.begin(), inside.end());
    if (inside.empty()) inside.push_back(log_path(path));
    out.insert(out.end(), inside.begin(), inside.end());
  }
  return out;
}

/// A score for each benchmark, batch and number of ranks; suite.json and suite.md.
ExitCode report(const Given& given, Log& say) {
  std::vector<MlLogFile> logs;
  for (const auto& path : log_paths(given.logs)) logs.push_back(read_mllog(path));
  std::vector<SetSummary> summaries;
  for (RunSet& set : sets_of(std::move(logs))) summaries.push_back(summary_of(std::move(set), given.runs));
  const auto file = [&](const char* name) { return (std::filesystem::path(given.into) / name).string(); };
  const Json out = to_json(summaries);
  const std::string page = page_of(summaries);
  io::write_file_atomically(file("suite.json"), out.dump(1) + "\n");
  io::write_file_atomically(file("suite.md"), page);
  say.info(given.json ? out.dump() : page);
  say.info(fmt::format("wrote {} and {}", file("suite.json"), file("suite.md")));
  const bool good =
      std::all_of(summaries.begin(), summaries.end(), [](const SetSummary& s) { return s.score.problems.empty(); });
  return good ? ExitCode::done : ExitCode::bad_input;
}

/// Arguments that the verbs have in common.
CLI::App* add_verb(CLI::App& app, const char* name, const char* doc, const char* logs, Given& given) {
  auto* verb = app.add_subcommand(name, doc);
  verb->add_option("logs", given.logs, logs)->required();
  verb->add_option("--runs", given.runs, "runs of a score, where the logs name no benchmark")
      ->check(CLI::Range(3, 1000));
  verb->add_flag("--json", given.json, "one JSON object instead of words");
  return verb;
}

/// The verb `run`: its arguments are stored in `asked`.
CLI::App* add_run(CLI::App& app, SuiteRun& asked, Given& given) {
  auto* verb = app.add_subcommand(
      "run",
      "data once, then trainings over seeds, batches and ranks, and their report; continues where it was stopped");
  verb->add_option("benchmark", asked.what, "cosmoflow, deepcam, open_catalyst, mlperf_hpc for all of them, or a deck")
      ->required();
  verb->add_option("overrides", asked.deck.overrides, "key.path=value, of the deck");
  verb->add_option("--seeds", asked.seeds, "runs of each batch; a score takes as many as its benchmark requires")
      ->check(CLI::Range(1, 1000));
  verb->add_option("--batches", asked.batches, "samples of a step, in turn; that of the deck when absent")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 30));
  verb->add_option("--ranks", asked.ranks, "ranks of one run, in turn; several runs at a time where there are more")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 20));
  verb->add_option("--runs", given.runs, "runs of a score, where the benchmark has no rule of its own")
      ->check(CLI::Range(3, 1000));
  verb->add_option("--into", asked.into, "folder of data, runs, suite.json and suite.md");
  verb->add_flag("--test-size", asked.deck.test_size, "the size at which the tests run the deck");
  return verb;
}

int suite(std::vector<std::string> arguments, Registry& registry, Context& context) {
  CLI::App app("Trainings measured by the rules of MLPerf HPC 3.0", "cambium suite");
  app.require_subcommand(1);
  Given given;
  auto* verb =
      add_verb(app, "check", "logs against the rules; of several, their score; exit code 2 when one breaks a rule",
               "logs (log.txt), or run directories", given);
  verb->add_option("--points", given.points, "reference convergence points, a file rcps_BENCHMARK.json");
  auto* table = add_verb(app, "report",
                         "scores and phases of runs by benchmark, batch and ranks, as suite.json and suite.md; exit "
                         "code 2 where one has no score",
                         "logs, run directories, or folders of runs such as a sweep's", given);
  table->add_option("--into", given.into, "folder of the two files")->check(CLI::ExistingDirectory);
  SuiteRun asked;
  auto* runs = add_run(app, asked, given);
  if (const auto code = answered(app, std::move(arguments), context.comm)) return *code;
  ExitCode code = ExitCode::done;
  if (runs->parsed()) {
    code = run_suite(asked, registry, context, given.logs);
    if (code != ExitCode::done) return static_cast<int>(code);
    given.into = asked.into;
    io::on_root(context.comm, [&] { code = report(given, context.log); });
    return static_cast<int>(code);
  }
  io::on_root(context.comm, [&] { code = table->parsed() ? report(given, context.log) : check(given, context.log); });
  return static_cast<int>(code);
}

}  // namespace

Command suite_command(Registry& registry) {
  return {
      "core", "suite",
      "trainings by the rules of MLPerf HPC: run BENCHMARK, check LOG... (keys, score, convergence), report RUNS...",
      [&registry](std::vector<std::string> arguments, Context& context) {
        return suite(std::move(arguments), registry, context);
      }};
}

}  // namespace cambium::train
