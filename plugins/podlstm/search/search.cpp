#include "plugins/podlstm/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/stop_request.hpp"
#include "plugins/podlstm/search/messages.hpp"

namespace cambium::podlstm {

std::vector<double> thresholds_of(const std::vector<Trial>& finished, const SearchOptions& options) {
  std::vector<double> out(static_cast<std::size_t>(options.rungs), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t r = 0; r < out.size(); ++r) {
    std::vector<double> values;
    for (const auto& t : finished)
      if (t.copy_of < 0 && r < t.rungs.size() && std::isfinite(t.rungs[r])) values.push_back(t.rungs[r]);
    if (values.size() < 4) continue;
    const auto place = static_cast<std::ptrdiff_t>((1.0 - options.keep) * static_cast<double>(values.size()));
    std::nth_element(values.begin(), values.begin() + place, values.end());
    out[r] = values[static_cast<std::size_t>(place)];
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

bool Search::finished() const { return running_.empty() && (pending_.empty() || stopping_); }

void Search::record(Trial trial) {
  if (trial.copy_of >= 0) ++report_.copied;
  if (trial.failed) ++report_.failed;
  trial.rungs.resize(static_cast<std::size_t>(options_.rungs), std::numeric_limits<double>::quiet_NaN());
  journal_->add(std::move(trial));
}

void Search::start(std::int64_t number, int worker, Job& job) {
  Running& r = running_.at(number);
  r.worker = r.trial.worker = worker;
  r.alive = wall_seconds();
  job = {number, r.trial.attempts, r.trial.genome, r.thresholds};
}

bool Search::next(int worker, Job& job) {
  if (context_.stop && context_.stop->asked()) stopping_ = true;
  if (!again_.empty()) {
    start(again_.front(), worker, job);
    again_.pop_front();
    return true;
  }
  while (!pending_.empty() && !stopping_) {
    Trial t;
    t.number = pending_.front();
    pending_.pop_front();
    t.known = std::ssize(journal_->trials());
    t.genome = propose(space_, options_.strategy, t.number, journal_->trials());
    t.worker = worker, t.started = now();
    const std::string form = space_.canonical(t.genome);
    if (const auto same = known_.find(form); same != known_.end()) {
      const Trial& original = journal_->trials()[static_cast<std::size_t>(same->second)];
      t.reward = original.reward, t.best_epoch = original.best_epoch, t.copy_of = original.number;
      record(std::move(t));
      continue;
    }
    const auto number = t.number;
    if (const auto same = under_way_.find(form); same != under_way_.end()) {
      running_.at(same->second).waiting.push_back(number);
      running_.emplace(number, Running{std::move(t)});
      continue;
    }
    under_way_[form] = number;
    running_.emplace(number, Running{std::move(t), thresholds_of(journal_->trials(), options_)});
    start(number, worker, job);
    return true;
  }
  return false;
}

void Search::finish(std::int64_t number, const Outcome& outcome) {
  auto node = running_.extract(number);
  Trial t = node.mapped().trial;
  report_.busy += outcome.seconds;
  ++report_.evaluated;
  const auto& bounds = node.mapped().thresholds;
  bool hopeless = false;  // comparisons with NaN are false
  for (std::size_t k = 0; k < outcome.rungs.size() && k < bounds.size(); ++k) hopeless |= outcome.rungs[k] < bounds[k];
  if (hopeless && !outcome.failed) ++report_.stopped;
  t.reward = outcome.failed ? failed_reward : outcome.reward;
  t.best_epoch = outcome.best_epoch, t.epochs = outcome.epochs, t.failed = outcome.failed;
  t.seconds = outcome.seconds, t.rungs = outcome.rungs;
  const std::string form = space_.canonical(t.genome);
  under_way_.erase(form);
  if (!t.failed) known_.emplace(form, std::ssize(journal_->trials()));
  const Trial original = t;
  record(std::move(t));
  for (std::int64_t waiting : node.mapped().waiting) {
    Trial copy = running_.extract(waiting).mapped().trial;
    copy.reward = original.reward, copy.best_epoch = original.best_epoch, copy.copy_of = original.number,
    copy.failed = original.failed;
    record(std::move(copy));
  }
  const auto done = std::ssize(journal_->trials());
  if (done / options_.log_every != shown_) shown_ = done / options_.log_every, show();
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

void Search::hand_out(int worker) {
  Job job;
  if (next(worker, job))
    send_job(job, worker, context_.comm);
  else
    idle_.insert(worker);
}

/// True when the worker has its trial to do once more.
bool Search::take(std::int64_t number, std::int32_t attempt, const Outcome& outcome, int worker) {
  const auto found = running_.find(number);
  if (found == running_.end() || found->second.trial.attempts != attempt) return false;  // of a rank that was given up
  Running& r = found->second;
  if (!outcome.failed || r.trial.attempts > options_.retries) return finish(number, outcome), false;
  ++r.trial.attempts;
  report_.busy += outcome.seconds;
  Job job;
  start(number, worker, job);
  send_job(job, worker, context_.comm);
  return true;
}

void Search::serve() {
  while (const auto sign = receive_sign(context_.comm)) {
    const auto found = running_.find(sign->number);
    if (found != running_.end() && found->second.trial.attempts == sign->attempt) found->second.alive = wall_seconds();
  }
  for (Outcome outcome; const auto from = receive_outcome(outcome, context_.comm);) {
    if (lost_.erase(from->worker))
      context_.log.warn(fmt::format("rank {} is back, and gets work again", from->worker * options_.ranks_per_trial));
    if (from->number >= 0 && take(from->number, from->attempt, outcome, from->worker)) continue;
    if (options_.synchronous)
      idle_.insert(from->worker);
    else
      hand_out(from->worker);
  }
  reassure_idle();
  give_up_on_silent();
}

/// Waiting workers hear that rank 0 lives: else they could not tell a long wait from a rank 0 that hangs.
void Search::reassure_idle() {
  if (options_.hang_limit <= 0.0 || wall_seconds() - reassured_ < 0.1 * options_.hang_limit) return;
  reassured_ = wall_seconds();
  for (int worker : idle_) send_job({no_job_yet, 0, {}, {}}, worker, context_.comm);
}

void Search::give_up_on_silent() {
  if (options_.hang_limit <= 0.0) return;
  std::vector<std::int64_t> silent;
  for (const auto& [number, r] : running_)
    if (r.worker > 0 && wall_seconds() - r.alive > options_.hang_limit) silent.push_back(number);
  for (const auto number : silent) {
    Running& r = running_.at(number);
    context_.log.warn(fmt::format("rank {} gives no sign of life in trial {}: taken for hung",
                                  r.worker * options_.ranks_per_trial, number));
    lost_.insert(std::exchange(r.worker, -1));
    if (r.trial.attempts <= options_.retries) {
      ++r.trial.attempts;
      again_.push_back(number);
      continue;
    }
    Outcome nothing;
    nothing.failed = true, nothing.seconds = now() - r.trial.started;
    finish(number, nothing);
  }
  while (!again_.empty() && !idle_.empty()) hand_out(idle_.extract(idle_.begin()).value());
}

void Search::serve_all() {
  const int workers = context_.comm.size() - 1;
  auto waiting = [&] { return static_cast<int>(idle_.size() + lost_.size()) >= workers; };
  while (!finished() || !waiting()) {
    serve();
    Job job;
    if (options_.synchronous) {
      if (waiting() && running_.empty())
        for (int w : std::exchange(idle_, {})) hand_out(w);
    } else if ((options_.root_evaluates || static_cast<int>(lost_.size()) == workers) && next(0, job)) {
      Outcome outcome = evaluate_(job, [&] { serve(); });
      for (; outcome.failed && job.attempt <= options_.retries;) {
        report_.busy += outcome.seconds;
        running_.at(job.number).trial.attempts = ++job.attempt;
        outcome = evaluate_(job, [&] { serve(); });
      }
      finish(job.number, outcome);
      continue;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (!lost_.empty()) end_without_lost();
  for (int w = 1; w <= workers; ++w) send_job({-1, 0, {}, {}}, w, context_.comm);
}

void Search::end_without_lost() const {
  journal_->flush();
  std::string ranks;
  for (int w : lost_) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", w * options_.ranks_per_trial);
  throw InputError(fmt::format(
      "rank {} hung and did not come back; all {} trials are finished and recorded. Look at its machine, then go on "
      "with: cambium restart {}",
      ranks, journal_->trials().size(), std::filesystem::path(context_.run_directory).parent_path().string()));
}

Job Search::wait_for_job() const {
  for (;;) {
    const auto job = receive_job(context_.comm, options_.hang_limit);
    if (!job)
      throw InputError(
          fmt::format("rank 0 gives no sign of life for {:g} s: taken for hung. Every finished trial is recorded; look "
                      "at its machine, then go on with: cambium restart {}",
                      options_.hang_limit, std::filesystem::path(context_.run_directory).parent_path().string()));
    if (job->number != no_job_yet) return *job;
  }
}

void Search::work() {
  send_outcome(-1, 0, {}, context_.comm);
  for (Job job = wait_for_job(); job.number >= 0; job = wait_for_job()) {
    double said = wall_seconds();
    auto breathe = [&] {
      if (options_.hang_limit <= 0.0 || wall_seconds() - said < 0.1 * options_.hang_limit) return;
      said = wall_seconds();
      send_sign(job, context_.comm);
    };
    const Outcome outcome = evaluate_(job, breathe);
    send_outcome(job.number, job.attempt, outcome, context_.comm);
  }
}

bool Search::run() {
  start_ = wall_seconds();
  if (context_.comm.size() == 1) options_.root_evaluates = true;
  report_.evaluators = context_.comm.size() - (options_.root_evaluates ? 0 : 1);
  if (context_.comm.root()) {
    context_.log.info("finished evaluated    copied        best   genome                          per hour   busy %");
    serve_all();
    report_.seconds = wall_seconds() - start_;
    journal_->flush();
    if (!journal_->trials().empty()) show();
  } else {
    work();
  }
  return context_.comm.max(stopping_ ? 1 : 0) == 0;
}

}  // namespace cambium::podlstm
