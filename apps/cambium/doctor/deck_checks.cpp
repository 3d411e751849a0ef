#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "apps/cambium/check/run_hooks.hpp"
#include "apps/cambium/doctor/parts.hpp"
#include "apps/cambium/profile/gathered_text.hpp"
#include "apps/cambium/sweep/column_names.hpp"
#include "core/base/text.hpp"
#include "core/base/timing.hpp"
#include "core/io/shipped.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/loader.hpp"
#include "core/run/deck_file.hpp"
#include "core/run/failure.hpp"
#include "core/run/run.hpp"
#include "core/run/summary/stage_results.hpp"

namespace cambium::doctor {

namespace fs = std::filesystem;

namespace {

/// A result that a deck expects of itself: an entry of its note x-doctor.
struct Expectation {
  std::string what;    ///< "damping of a Langmuir wave"
  std::string result;  ///< key of a result, or a column of thermo.csv
  double expected = 0.0, within = 0.0;
  std::string remedy;
};

Expectation expectation_in(const deck::Node& note, const std::string& path) {
  const auto number = [&](const char* key) {
    const auto value = parse_number(note[key].text());
    if (!value) throw InputError(fmt::format("'{}': x-doctor.{} is not a number: '{}'", path, key, note[key].text()));
    return *value;
  };
  return {note["what"].text(), note["result"].text(), number("expected"), number("within"), note["wrong"].text()};
}

/// A deck and its expectations.
struct Trial {
  std::string path, name;
  std::vector<std::string> plugins;
  std::vector<Expectation> expectations;
};

Trial trial_of(const std::string& path) {
  const deck::Node root = deck::load(path), plugins = root["plugins"], notes = root["x-doctor"];
  Trial out{path, fs::path(path).stem().stem().string(), {}, {}};
  for (const auto& plugin : plugins.items()) out.plugins.push_back(plugin.text());
  for (const auto& note : notes.items()) out.expectations.push_back(expectation_in(note, path));
  return out;
}

/// Decks shipped with the program, and those next to plugin libraries.
std::vector<std::string> decks() {
  std::vector<std::string> out;
  for (const auto& name : shipped_names("inputs"))
    if (name.starts_with("doctor/")) out.push_back((fs::path(shared_folder("inputs")) / (name + ".yaml")).string());
  std::error_code none;
  for (const auto& folder : plugin_folders())
    for (const auto& entry : fs::directory_iterator(folder, none))
      if (entry.path().string().ends_with(".doctor.yaml")) out.push_back(entry.path().string());
  return out;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) out.push_back(field.substr(0, field.find(" [")));
  return out;
}

/// From a stage's results, else from the last line of a thermo.csv; none if neither has the name.
std::optional<double> result_of(const std::string& run, const std::string& name) {
  std::error_code none;
  for (const auto& stage : fs::directory_iterator(run, none)) {
    const auto found = stage_results_in(stage.path().string());
    if (!found) continue;
    for (const auto& result : found->results)
      if (result.key == name || column_of_result(result.key) == name) return result.value;
  }
  std::ifstream table(fs::path(run) / "simulate" / "thermo.csv");
  std::string head, last;
  std::getline(table, head);
  for (std::string line; std::getline(table, line);) last = line;
  const auto names = fields_of(head), values = fields_of(last);
  const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  return at < values.size() ? parse_number(values[at]) : std::nullopt;
}

/// Runs a deck without output. Called by the ranks that take part. Returns the error; empty if there was none.
std::string run_silently(const std::string& deck, const std::string& directory, Registry& registry, Comm& comm) {
  try {
    Log silent;
    Timing timing;
    Context context{comm, silent, timing, &registry};
    context.command_line = "cambium doctor";
    DeckOptions options;
    options.directory = directory;
    const auto read = read_deck(deck, options, registry, context);
    context.seed = static_cast<std::uint64_t>(read.deck.run.seed);
    context.resolved_deck = read.resolved;
    run_stages(read, program_run(deck), context);
    return {};
  } catch (...) {
    const auto failure = failure_of(std::current_exception());
    if (every_rank_arrives(comm)) return failure.text;
    std::fprintf(stderr, "cambium: %s: %s\n", deck.c_str(), failure.text.c_str());
    std::fflush(stderr);
    MPI_Abort(comm.handle(), static_cast<int>(failure.code));
    throw;
  }
}

/// Findings of one machine: a line for each expectation, with a value or the reason why there is none.
std::string found_by(const Trial& trial, const std::string& directory, Registry& registry, Comm& comm) {
  const std::string failed = run_silently(trial.path, directory, registry, comm);
  std::string out;
  for (const auto& e : trial.expectations) {
    const auto value = failed.empty() && comm.root() ? result_of(directory, e.result) : std::nullopt;
    out += failed.empty() ? (value ? fmt::format("{}", *value) : fmt::format("no result '{}'", e.result))
                          : failed.substr(0, failed.find('\n'));
    out += '\n';
  }
  return comm.root() ? out : "";
}

std::string line_of(const std::string& text, std::size_t k) {
  std::istringstream in(text);
  std::string line;
  for (std::size_t j = 0; j <= k; ++j) std::getline(in, line);
  return line;
}

void judge(const Expectation& e, const std::string& name, const std::vector<std::string>& found, Findings& findings) {
  const std::string text = fmt::format("{}: expected {:.10g} within {:g}, found", e.what, e.expected, e.within);
  for (const auto& answer : found) {
    const auto value = parse_number(answer);
    if (!value || !(std::abs(*value - e.expected) <= e.within))
      return findings.add(Mark::wrong, name, fmt::format("{} {}", text, answer), e.remedy);
  }
  const bool same =
      std::all_of(found.begin(), found.end(), [&](const auto& answer) { return answer == found.front(); });
  findings.judge(same, Mark::note, name,
                 fmt::format("{} {}{}", text, found.empty() ? "" : found.front(),
                             same ? "" : ", and other digits on other machines"),
                 "machines of this job differ: expect other last digits where ranks are placed otherwise");
}

struct FewRanks {
  MPI_Comm handle = MPI_COMM_NULL;
  FewRanks(const Comm& comm, bool mine, int number) {
    MPI_Comm_split(comm.handle(), mine ? number : MPI_UNDEFINED, comm.rank(), &handle);
  }
  ~FewRanks() {
    if (handle != MPI_COMM_NULL) MPI_Comm_free(&handle);
  }
  FewRanks(const FewRanks&) = delete;
  FewRanks& operator=(const FewRanks&) = delete;
};

}  // namespace

void check_decks(const std::string& scratch, const Machines& machines, Registry& registry, Context& context,
                 Findings& findings) {
  const Comm& comm = context.comm;
  findings.heading(
      fmt::format("simulations, by {} of every machine", machines.here.size() > 1 ? "two ranks" : "a rank"));
  const bool mine = machines.here.rank() < 2;
  const FewRanks split(comm, mine, machines.number);
  std::optional<Comm> few;
  if (mine) few.emplace(split.handle);
  for (const auto& deck : decks()) {
    const Trial trial = trial_of(deck);
    const auto built = registry.plugins();
    const auto absent = std::find_if(trial.plugins.begin(), trial.plugins.end(), [&](const auto& p) {
      return std::find(built.begin(), built.end(), p) == built.end();
    });
    if (absent != trial.plugins.end()) {
      findings.fact(trial.name, fmt::format("left out: this build has no plugin {}", *absent));
      continue;
    }
    std::string found;
    if (few)
      found = found_by(trial, (fs::path(scratch) / fmt::format("{}_{}", trial.name, machines.number)).string(),
                       registry, *few);
    auto all = gathered_text(comm, found);
    std::erase(all, "");
    for (std::size_t k = 0; k < trial.expectations.size(); ++k) {
      std::vector<std::string> answers;
      for (const auto& text : all) answers.push_back(line_of(text, k));
      judge(trial.expectations[k], trial.name, answers, findings);
    }
  }
}

}  // namespace cambium::doctor
