#include "core/train/tune/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/train/tune/messages.hpp"

namespace cambium::tune {

std::vector<Result> SearchReport::results() const {
  std::vector<Result> out;
  const auto add = [&](const char* key, const char* label, double value, const char* unit = "") {
    out.push_back(in_table(key, label, value));
    out.back().unit = unit;
  };
  add("trials_evaluated", "trials evaluated here", static_cast<double>(evaluated));
  add("trials_copied", "copies of equal trials", static_cast<double>(copied));
  add("trials_ended_early", "trials that ended early", static_cast<double>(stopped));
  add("trials_failed", "trials that failed", static_cast<double>(failed));
  add("evaluators", "evaluators", evaluators);
  add("search_seconds", "time of the search", seconds, "s");
  add("evaluations_per_hour", "evaluations per hour", per_hour());
  add("utilisation", "utilisation of the evaluators", 100.0 * utilisation(), "%");
  return out;
}

std::vector<double> thresholds_of(const std::vector<Trial>& finished, const SearchOptions& options) {
  std::vector<double> out(options.rungs, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t r = 0; r < out.size(); ++r) {
    std::vector<double> values;
    for (const auto& t : finished)
      if (t.copy_of < 0 && r < t.rungs.size() && std::isfinite(t.rungs[r])) values.push_back(t.rungs[r]);
    if (values.size() < 4) continue;
    const auto place = static_cast<std::ptrdiff_t>((1.0 - options.keep) * static_cast<double>(values.size()));
    std::nth_element(values.begin(), values.begin() + place, values.end());
    out[r] = values[place];
  }
  return out;
}

Search::Search(SearchSpace space, SearchOptions options, Journal* journal, Evaluate evaluate, Context& context)
    : space_(std::move(space)), options_(options), journal_(journal), evaluate_(std::move(evaluate)),
      context_(context) {
  if (!journal_) return;
  std::set<std::int64_t> done;
  std::int64_t place = 0;
  for (const auto& t : journal_->trials()) {
    done.insert(t.number);
    before_ = std::max(before_, t.started + t.seconds);
    if (t.copy_of < 0 && !t.failed) known_.emplace(space_.canonical(t.genome), place);
    ++place;
  }
  for (std::int64_t k = 0; k < options_.trials; ++k)
    if (!done.contains(k)) pending_.push_back(k);
}

double Search::now() const { return before_ + wall_seconds() - start_; }

/// Stop requests take effect between trials: running ones are finished.
bool Search::ended() const {
  if (context_.stop && context_.stop->asked()) stopping_ = true;
  return pending_.empty() || stopping_;
}

void Search::record(Trial trial) {
  if (trial.copy_of >= 0) ++report_.copied;
  if (trial.failed) ++report_.failed;
  trial.rungs.resize(options_.rungs, std::numeric_limits<double>::quiet_NaN());
  journal_->add(std::move(trial));
}

bool Search::next(int worker, tasks::Piece& piece) {
  if (options_.synchronous && round_ == report_.evaluators) {  // wait for the complete round
    if (!running_.empty()) return false;
    round_ = 0;
  }
  while (!pending_.empty()) {
    Trial t;
    t.number = pending_.front();
    pending_.pop_front();
    t.known = std::ssize(journal_->trials());
    t.genome = propose(space_, options_.strategy, t.number, journal_->trials());
    t.started = now();
    const std::string form = space_.canonical(t.genome);
    if (const auto same = known_.find(form); same != known_.end()) {
      const Trial& original = journal_->trials()[same->second];
      t.reward = original.reward;
      t.best_epoch = original.best_epoch;
      t.copy_of = original.number;
      t.worker = worker;
      record(std::move(t));
      continue;
    }
    const auto number = t.number;
    if (const auto same = under_way_.find(form); same != under_way_.end()) {
      running_.at(same->second).waiting.push_back(number);
      t.worker = worker;
      running_.emplace(number, Running{std::move(t)});
      continue;
    }
    under_way_[form] = number;
    const Running& r =
        running_.emplace(number, Running{std::move(t), thresholds_of(journal_->trials(), options_)}).first->second;
    piece.number = number;
    piece.what = bytes_of({number, 1, r.trial.genome, r.thresholds});
    ++round_;
    return true;
  }
  return false;
}

void Search::finished(const tasks::Piece& piece, const tasks::PieceResult& result, int worker) {
  const Outcome outcome = outcome_of(result);
  const auto node = running_.extract(piece.number);
  Trial t = node.mapped().trial;
  t.worker = worker;
  t.attempts = piece.attempt;
  report_.busy += outcome.seconds;
  ++report_.evaluated;
  const auto& bounds = node.mapped().thresholds;
  bool hopeless = false;  // comparisons with NaN are false
  for (std::size_t k = 0; k < outcome.rungs.size() && k < bounds.size(); ++k) hopeless |= outcome.rungs[k] < bounds[k];
  if (hopeless && !outcome.failed) ++report_.stopped;
  t.reward = outcome.failed ? failed_reward : outcome.reward;
  t.best_epoch = outcome.best_epoch;
  t.epochs = outcome.epochs;
  t.failed = outcome.failed;
  t.seconds = outcome.seconds;
  t.rungs = outcome.rungs;
  const std::string form = space_.canonical(t.genome);
  under_way_.erase(form);
  if (!t.failed) known_.emplace(form, std::ssize(journal_->trials()));
  record(t);
  finish_copies(node.mapped(), t);
  const auto done = std::ssize(journal_->trials());
  if (done / options_.log_every != shown_) {
    shown_ = done / options_.log_every;
    show();
  }
}

void Search::finish_copies(const Running& original, const Trial& trial) {
  for (const std::int64_t waiting : original.waiting) {
    Trial copy = running_.extract(waiting).mapped().trial;
    copy.reward = trial.reward;
    copy.best_epoch = trial.best_epoch;
    copy.copy_of = trial.number;
    copy.failed = trial.failed;
    record(std::move(copy));
  }
}

void Search::show() const {
  const Trial* best = nullptr;
  for (const auto& t : journal_->trials())
    if (!best || t.reward > best->reward) best = &t;
  SearchReport so_far = report_;
  so_far.seconds = wall_seconds() - start_;
  context_.log.info(fmt::format("{:8}{:10}{:10}{:12.4f}   {:<28}{:10.0f}{:9.1f}", journal_->trials().size(),
                                report_.evaluated, report_.copied, best->reward, genome_text(best->genome),
                                so_far.per_hour(), 100.0 * so_far.utilisation()));
}

tasks::FarmOptions Search::farm_options() const {
  tasks::FarmOptions out;
  out.retries = options_.retries;
  out.hang_limit = options_.hang_limit;
  out.root_works = options_.root_evaluates;
  out.noun = "trial";
  out.go_on = "continue with: cambium restart " + std::filesystem::path(context_.run_directory).parent_path().string();
  return out;
}

void Search::serve(tasks::WorkGroups& groups, const tasks::EvaluatePiece& evaluate) {
  const int leaders = context_.comm.size() / groups.own().size();
  report_.evaluators = std::max(1, leaders - (options_.root_evaluates ? 0 : 1));
  context_.log.info("finished evaluated    copied        best   genome                          per hour   busy %");
  tasks::FarmReport report;
  try {
    report = groups.run(this, context_.log, farm_options(), evaluate);
  } catch (const InputError&) {
    journal_->flush();
    throw;
  }
  report_.seconds = report.seconds;
  report_.busy = report.busy;
  report_.repeated = report.repeated;
  journal_->flush();
  if (!journal_->trials().empty()) show();
}

bool Search::run(tasks::WorkGroups& groups) {
  start_ = wall_seconds();
  const auto evaluate = [this](const tasks::Piece& piece, const tasks::Breathe& breathe) {
    return result_of(evaluate_(job_of(piece), breathe));
  };
  if (context_.comm.root())
    serve(groups, evaluate);
  else
    groups.run(nullptr, context_.log, farm_options(), evaluate);
  return context_.comm.max(stopping_ ? 1 : 0) == 0;
}

}  // namespace cambium::tune
