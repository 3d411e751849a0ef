#pragma once
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/tune/search_keys.hpp"
#include "plugins/podlstm/forecast/member.hpp"
#include "plugins/podlstm/forecast/options.hpp"

namespace cambium::podlstm {

// The search itself, shared with the stage `tune`.
using tune::describe_search;
using tune::Evaluate;
using tune::genome_text;
using tune::Job;
using tune::Journal;
using tune::Outcome;
using tune::run_search;
using tune::SearchEnd;
using tune::SearchKeys;
using tune::SearchReport;
using tune::SearchSpace;
using tune::Selection;
using tune::Strategy;
using tune::Trial;

/// The stage `search`: finds networks of the SC20 space by validation only, then compares an ensemble of the best with
/// the linear baselines on the test years.
class SearchTask : public Task {
 public:
  struct Network {
    Cell cell = Cell::lstm;
    Head head = Head::dense;
    Inputs inputs = Inputs::anomalies;
    int calendar = 0, harmonics = 2, epochs = 60, patience = 15;
    std::int64_t batch = 64;
    double rate = 1e-3, weight_decay = 0.0;
    std::vector<double> linear_ridge = {0.03, 0.1, 0.3, 1.0, 3.0};
    std::vector<int> linear_harmonics = {2, 3, 4};
    static void describe(deck::Describe<Network>& d);
  };
  struct Ensemble {
    std::int64_t members = 5, seeds = 5;
    int plain_epochs = 300;
    static void describe(deck::Describe<Ensemble>& d);
  };
  struct Params : SearchKeys {
    ForecastOptions data;
    Network network;
    int seeds_per_trial = 1;
    Ensemble ensemble;
    BaselineOptions linear;  ///< of the forecast whose residual is learnt; not a key, set by choose_linear()
    static void describe(deck::Describe<Params>& d);
    MemberOptions member(const Genome& genome) const;
  };
  SearchTask(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Citation> citations() const override;
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return files_; }

 private:
  void require_lengths() const;
  void report(const SearchReport& r, const Journal& journal, Context& context) const;
  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> files_;
};

/// Chooses penalty and harmonics of params.linear by the validation of the deck; those of the baseline harmonics +
/// ridge if networks do not learn a residual.
void choose_linear(SearchTask::Params& params, const Series& series, Context& context);

/// The search space of the paper.
SearchSpace paper_space(int features);

/// The seed of an evaluation: the same for function-equal genomes.
std::uint64_t trial_seed(std::uint64_t seed, const std::string& canonical, std::int32_t attempt);

/// Trains networks on the fitting windows of the protocol; the reward is R2 on the others: of all folds together, and
/// of the mean over the seeds of a trial. Folds and seeds advance epoch by epoch in parallel, distributed over the
/// ranks of a group.
class WindowEvaluator {
 public:
  WindowEvaluator(const SearchTask::Params& params, const Series& series, Context& context, const Comm& group);
  cambium::podlstm::Outcome operator()(const Job& job, const std::function<void()>& breathe) const;
  const std::vector<Split>& splits() const { return splits_; }

 private:
  struct Running;
  void advance(Running& r, const Job& job, const std::function<void()>& breathe, cambium::podlstm::Outcome& out) const;
  double reward(const Running& r) const;
  bool together(const std::function<void()>& action) const;
  const SearchTask::Params& params_;
  const Series& series_;
  Context& context_;
  const Comm& group_;
  std::vector<Split> splits_;
  Matrix truth_;
  SearchSpace space_;
};

/// Retrains the best networks with several seeds, chooses the weight of harmonics + ridge by validation, records the
/// choice, and only then forecasts the test years; adds results of the best single network to `results`. Collective;
/// `journal` on rank 0.
std::vector<TableRow> final_table(const SearchTask::Params& params, const Series& series, Journal* journal,
                                  std::vector<Result>& results, Context& context);

}  // namespace cambium::podlstm
