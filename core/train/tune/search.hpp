#pragma once
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/parallel/farm/work_groups.hpp"
#include "core/plugin/result.hpp"
#include "core/train/tune/journal.hpp"
#include "core/train/tune/trial.hpp"

namespace cambium::tune {

/// Request to an evaluator.
struct Job {
  std::int64_t number = 0;
  std::int32_t attempt = 1;
  Genome genome;
  std::vector<double> thresholds;  ///< by rung: a trial is stopped if its reward so far is below; NaN for none
};

/// Response of an evaluator. A failure is a result, not an exception.
struct Outcome {
  double reward = 0.0, seconds = 0.0;
  std::int32_t best_epoch = 0, epochs = 0;
  bool failed = false;
  std::vector<double> rungs;
};

/// Evaluates one trial. It calls `breathe` often (each epoch), in which rank 0 serves the others and these send a
/// heartbeat. Must depend only on the genome, the attempt and the thresholds, so that a recorded search can be
/// replayed.
using Evaluate = std::function<Outcome(const Job&, const std::function<void()>& breathe)>;

struct SearchOptions {
  StrategyOptions strategy;
  std::int64_t trials = 100;
  int rungs = 0;               ///< of successive halving; 0: every trial runs to its end
  double keep = 0.5;           ///< fraction of the trials that pass a rung
  int retries = 1;             ///< of a failed evaluation, before it is scored failed_reward
  double hang_limit = 0.0;     ///< seconds without a heartbeat after which a rank counts as hung; 0: never
  bool root_evaluates = true;  ///< rank 0 serves and evaluates; otherwise it only serves
  bool synchronous = false;    ///< assign rounds of one trial per evaluator and wait for all of them (for comparison)
  std::int64_t log_every = 10;
};

/// Time budget of a search.
struct SearchReport {
  double seconds = 0.0, busy = 0.0;  ///< wall time of this run; of all evaluators together
  std::int64_t evaluated = 0, copied = 0, failed = 0, stopped = 0;
  std::int64_t repeated = 0;  ///< trials of hung ranks
  int evaluators = 1;
  double utilisation() const { return seconds > 0.0 ? busy / (seconds * evaluators) : 0.0; }
  double per_hour() const { return seconds > 0.0 ? 3600.0 * static_cast<double>(evaluated) / seconds : 0.0; }
  /// Counts, time and utilisation of the evaluators; also in the printed line of a search.
  std::vector<Result> results() const;
};

/// Thresholds of the rungs from finished trials: the quantile that a fraction `keep` passes; NaN below four values.
std::vector<double> thresholds_of(const std::vector<Trial>& finished, const SearchOptions& options);

/// Asynchronous search over the ranks of a farm: rank 0 proposes and records; an idle rank gets the next trial at once.
/// Functionally equal genomes are evaluated once; a copy waits for a running evaluation. The trial of a hung rank is
/// assigned to another one, with the same attempt, so the record is unaffected.
class Search : private tasks::WorkSource {
 public:
  /// `journal` is used only on rank 0 (null elsewhere); trials that it already contains are finished.
  Search(SearchSpace space, SearchOptions options, Journal* journal, Evaluate evaluate, Context& context);
  /// Collective; all ranks of a group evaluate a trial together, with the same job. Returns false if stopped before all
  /// trials were finished.
  bool run(tasks::WorkGroups& groups);
  const SearchReport& report() const { return report_; }  ///< on rank 0

 private:
  struct Running {
    Trial trial;
    std::vector<double> thresholds = {};
    std::vector<std::int64_t> waiting = {};  ///< copies that wait for it
  };
  bool next(int worker, tasks::Piece& piece) override;
  void finished(const tasks::Piece& piece, const tasks::PieceResult& result, int worker) override;
  bool ended() const override;
  tasks::FarmOptions farm_options() const;
  void serve(tasks::WorkGroups& groups, const tasks::EvaluatePiece& evaluate);
  void finish_copies(const Running& original, const Trial& trial);
  void record(Trial trial);
  void show() const;
  double now() const;

  SearchSpace space_;
  SearchOptions options_;
  Journal* journal_;
  Evaluate evaluate_;
  Context& context_;
  SearchReport report_;
  std::deque<std::int64_t> pending_;
  std::map<std::int64_t, Running> running_;
  std::map<std::string, std::int64_t> known_;      ///< canonical form -> position of the finished trial in the journal
  std::map<std::string, std::int64_t> under_way_;  ///< canonical form -> index of the running trial
  double start_ = 0.0, before_ = 0.0;
  mutable bool stopping_ = false;
  int round_ = 0;  ///< assigned trials of a round
  std::int64_t shown_ = 0;
};

}  // namespace cambium::tune
