#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/train/tune/tune.hpp"

namespace cambium::tune {

namespace fs = std::filesystem;

namespace {

using Decisions = std::vector<deck::Decision>;

/// True if the decision has an effect: every alternative around it was chosen.
bool counts(const Decisions& decisions, const Genome& genome, std::size_t k) {
  for (int w = decisions[k].within, a = decisions[k].alternative; w >= 0;
       a = decisions[w].alternative, w = decisions[w].within)
    if (genome[w] != a) return false;
  return true;
}

std::string picked(const Decisions& decisions, const Genome& genome, std::size_t k) {
  return counts(decisions, genome, k) ? deck::to_line(decisions[k].list[genome[k]]) : "-";
}

/// "train.network.neuron" without the common prefix.
std::string short_path(const deck::Decision& d) {
  const auto at = d.list.path().find("train.");
  return at == std::string::npos ? d.list.path() : d.list.path().substr(at + 6);
}

std::string table(const Decisions& decisions, const std::vector<Trial>& trials) {
  std::string out = "trial,error,step,steps,attempts,seconds,copy_of,failed";
  for (const auto& d : decisions) out += fmt::format(",{}", io::csv_cell(short_path(d)));
  for (const auto& t : trials) {
    out += fmt::format("\n{},{},{},{},{},{},{},{}", t.number, t.failed ? "" : number_text(-t.reward), t.best_epoch,
                       t.epochs, t.attempts, number_text(t.seconds), t.copy_of < 0 ? "" : std::to_string(t.copy_of),
                       t.failed ? 1 : 0);
    for (std::size_t k = 0; k < decisions.size(); ++k)
      out += fmt::format(",{}", io::csv_cell(picked(decisions, t.genome, k)));
  }
  return out + "\n";
}

/// A deck of one stage that trains the chosen alternatives.
std::string deck_of(const deck::Node& train, const Context& context) {
  std::vector<deck::Node::Entry> entries = {
      {"run", deck::Node::map(
                  {{"name", deck::Node::scalar("best")}, {"seed", deck::Node::scalar(std::to_string(context.seed))}})}};
  if (!context.resolved_deck.empty())
    if (const auto plugins = deck::parse(context.resolved_deck, "deck.resolved.yaml")["plugins"]; plugins.size() > 0)
      entries.push_back({"plugins", plugins});
  entries.push_back({"stages", deck::Node::list({deck::Node::map({{"train", train}})})});
  return deck::to_yaml(deck::Node::map(std::move(entries)));
}

/// Reports for every alternative how many evaluated trials had it, their lowest error and their median.
void report_alternatives(const Decisions& decisions, const std::vector<const Trial*>& ranked, Log& log) {
  log.info(fmt::format("{:<44}{:>8}{:>14}{:>14}", "alternative", "trials", "least error", "median error"));
  for (std::size_t k = 0; k < decisions.size(); ++k)
    for (std::size_t a = 0; a < decisions[k].list.size(); ++a) {
      std::vector<double> errors;
      for (const auto* t : ranked)
        if (t->genome[k] == static_cast<int>(a) && counts(decisions, t->genome, k)) errors.push_back(-t->reward);
      const std::string name = fmt::format("{}: {}", short_path(decisions[k]), deck::to_line(decisions[k].list[a]));
      if (errors.empty())
        log.info(fmt::format("{:<44}{:>8}", name, 0));
      else
        log.info(fmt::format("{:<44}{:>8}{:>14.5g}{:>14.5g}", name, errors.size(), errors.front(),
                             errors[errors.size() / 2]));
    }
}

}  // namespace

void write_tune_results(const TuneTask::Params& params, const std::vector<Trial>& trials, const SearchReport& report,
                        Context& context) {
  const fs::path place = context.run_directory;
  const auto& decisions = params.train.decisions;
  std::vector<const Trial*> ranked;
  for (const auto& t : trials)
    if (!t.failed && t.copy_of < 0) ranked.push_back(&t);
  if (ranked.empty())
    throw InputError(fmt::format("none of the {} trials succeeded; the reasons are in {}", trials.size(),
                                 (place / "trials" / "*" / "log.txt").string()));
  std::ranges::stable_sort(ranked, [](auto* a, auto* b) { return a->reward > b->reward; });
  io::write_file_atomically((place / "trials.csv").string(), table(decisions, trials));
  const Trial& best = *ranked.front();
  io::write_file_atomically((place / "best.yaml").string(), deck_of(params.train.at(best.genome), context));
  fs::remove_all(place / "best");
  fs::copy(trial_folder(context, best.number), place / "best", fs::copy_options::recursive);
  std::set<std::int64_t> kept;
  for (std::size_t k = 0; k < ranked.size() && std::ssize(kept) < params.keep; ++k) kept.insert(ranked[k]->number);
  for (const auto& t : trials)
    if (!kept.contains(t.number)) fs::remove_all(trial_folder(context, t.number));
  auto& log = context.log;
  log.info(
      fmt::format("tune: {} trials ({} evaluated here, {} copies of equal decks, {} ended early, {} failed) in {:.1f} "
                  "s on {} evaluators: {:.0f} per hour, {:.1f} % busy",
                  trials.size(), report.evaluated, report.copied, report.stopped, report.failed, report.seconds,
                  report.evaluators, report.per_hour(), 100.0 * report.utilisation()));
  report_alternatives(decisions, ranked, log);
  log.info(fmt::format("best: trial {}, error {:.6g} at step {}", best.number, -best.reward, best.best_epoch));
  for (std::size_t k = 0; k < decisions.size(); ++k)
    log.info(fmt::format("  {}: {}", short_path(decisions[k]), picked(decisions, best.genome, k)));
}

}  // namespace cambium::tune
