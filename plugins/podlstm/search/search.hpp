#pragma once
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/parallel/context.hpp"
#include "plugins/podlstm/search/journal.hpp"
#include "plugins/podlstm/search/trial.hpp"

namespace cambium::podlstm {

/// What an evaluator is asked for.
struct Job {
  std::int64_t number = 0;
  std::int32_t attempt = 1;
  Genome genome;
  std::vector<double> thresholds;  ///< by rung: a trial whose reward so far is below ends there; NaN for none
};

/// What it gives back. A failure is a result, not an exception.
struct Outcome {
  double reward = 0.0, seconds = 0.0;
  std::int32_t best_epoch = 0, epochs = 0;
  bool failed = false;
  std::vector<double> rungs;
};

/// Evaluates one trial. It calls `breathe` often (each epoch): rank 0 then serves the others, which send it a sign of
/// life. Must depend on the genome, the attempt and the thresholds alone, so that a recorded search can be replayed.
using Evaluate = std::function<Outcome(const Job&, const std::function<void()>& breathe)>;

struct SearchOptions {
  StrategyOptions strategy;
  std::int64_t trials = 100;
  int rungs = 0;               ///< of successive halving; 0: every trial runs to its end
  double keep = 0.5;           ///< share of the trials that pass a rung
  int retries = 1;             ///< of a failed evaluation, before it is scored failed_reward
  double hang_limit = 0.0;     ///< seconds without a sign of life after which a rank is taken for hung; 0: never
  int ranks_per_trial = 1;     ///< for messages: rank k here is rank k * ranks_per_trial of the run
  bool root_evaluates = true;  ///< rank 0 serves and evaluates; otherwise it only serves
  bool synchronous = false;    ///< hand out rounds of one trial per evaluator and wait for all of them (for comparison)
  std::int64_t log_every = 10;
};

/// Where the time of a search went.
struct SearchReport {
  double seconds = 0.0, busy = 0.0;  ///< wall time of this run; of all evaluators together
  std::int64_t evaluated = 0, copied = 0, failed = 0, stopped = 0;
  int evaluators = 1;
  double utilisation() const { return seconds > 0.0 ? busy / (seconds * evaluators) : 0.0; }
  double per_hour() const { return seconds > 0.0 ? 3600.0 * static_cast<double>(evaluated) / seconds : 0.0; }
};

/// Thresholds of the rungs from finished trials: the quantile that `keep` of them pass; NaN below four values.
std::vector<double> thresholds_of(const std::vector<Trial>& finished, const SearchOptions& options);

/// An asynchronous search over the ranks of a communicator. Rank 0 proposes and records; a rank that is free gets the
/// next trial at once. Function-equal genomes are evaluated once; a copy waits for an evaluation that is under way. The
/// trial of a rank that gives no sign of life goes to another one; should the rank come back, what it then says about
/// it is not heard. A worker that hears nothing from rank 0 while it waits ends the run.
class Search {
 public:
  /// `journal` is used on rank 0 alone (null elsewhere); what it holds already is finished.
  Search(SearchSpace space, SearchOptions options, Journal* journal, Evaluate evaluate, Context& context);
  /// Collective; false when it was asked to stop before all trials were finished.
  bool run();
  const SearchReport& report() const { return report_; }  ///< on rank 0

 private:
  struct Running {
    Trial trial;
    std::vector<double> thresholds = {};
    std::vector<std::int64_t> waiting = {};  ///< copies that wait for it
    int worker = -1;                         ///< -1: none, it waits
    double alive = 0.0;                      ///< when the worker was last heard of
  };
  void work();
  Job wait_for_job() const;
  void serve_all();
  void serve();
  bool next(int worker, Job& job);
  void start(std::int64_t number, int worker, Job& job);
  bool take(std::int64_t number, std::int32_t attempt, const Outcome& outcome, int worker);
  void reassure_idle();
  void give_up_on_silent();
  [[noreturn]] void end_without_lost() const;
  void finish(std::int64_t number, const Outcome& outcome);
  void record(Trial trial);
  void hand_out(int worker);
  bool finished() const;
  void show() const;
  double now() const;

  SearchSpace space_;
  SearchOptions options_;
  Journal* journal_;
  Evaluate evaluate_;
  Context& context_;
  SearchReport report_;
  std::deque<std::int64_t> pending_;
  std::deque<std::int64_t> again_;  ///< of ranks that hang
  std::map<std::int64_t, Running> running_;
  std::map<std::string, std::int64_t> known_;      ///< canonical form -> finished trial's place in the journal
  std::map<std::string, std::int64_t> under_way_;  ///< canonical form -> number
  std::set<int> idle_, lost_;
  double start_ = 0.0, before_ = 0.0, reassured_ = 0.0;
  bool stopping_ = false;
  std::int64_t shown_ = 0;
};

}  // namespace cambium::podlstm
