#pragma once
#include "core/deck/alternatives.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/run/train.hpp"
#include "core/train/tune/search_keys.hpp"

namespace cambium::tune {

/// The stage `tune`: a stage `train`, of any network of any plugin, with keys of the form `!choice [a, b, ...]`; the
/// alternatives with the best validation are found by the same search as networks of the SC20 space.
class TuneTask : public Task {
 public:
  struct Params : SearchKeys {
    Params() { trials = 50, population = 20, sample = 5, log = 5, retries = 0; }
    deck::Marked<train::Train::Params> train;
    std::int64_t keep = 3;
    static void describe(deck::Describe<Params>& d);
    SearchSpace space() const;
  };
  TuneTask(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Citation> citations() const override;
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return files_; }

 private:
  std::string key(const Context& context) const;
  void report_plan(const train::Train::Params& first, Context& context) const;
  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> files_;
};

/// Folder of a trial within the stage's folder: trials/0007.
std::string trial_folder(const Context& context, std::int64_t number);

/// Trains the network of one genome, all ranks of a group together, in a separate folder with its own log. The reward
/// is the lowest validation measure with the sign reversed; for several models (`models`), the mean.
class TrainEvaluator {
 public:
  TrainEvaluator(const TuneTask::Params& params, Context& context, Comm& group)
      : params_(params), context_(context), group_(group) {}
  cambium::tune::Outcome operator()(const Job& job, const std::function<void()>& breathe) const;

 private:
  void train(const Job& job, Context& own, const std::function<void()>& breathe, cambium::tune::Outcome& out) const;
  const TuneTask::Params& params_;
  Context& context_;
  Comm& group_;
};

/// On rank 0: writes trials.csv, best.yaml (a deck that trains the best again), the best trial's folder as `best`, and
/// the results. Deletes the folders of all but the `keep` best trials. InputError if no trial succeeded.
void write_tune_results(const TuneTask::Params& params, const std::vector<Trial>& trials, const SearchReport& report,
                        Context& context);

}  // namespace cambium::tune
