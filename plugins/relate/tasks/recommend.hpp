#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/relate/datasets/interactions.hpp"
#include "plugins/relate/tasks/choice_baselines.hpp"
#include "plugins/relate/tasks/model_predictions.hpp"

namespace cambium::relate {

/// The stage `recommend`: ranks for every user all items without interactions in training and validation, by networks
/// and by cheap baselines, and evaluates the rankings on the test interactions; for a data set with split: validation
/// all items without training interactions, on the validation interactions.
class Recommend : public Task {
 public:
  struct Params {
    std::vector<std::string> models;
    deck::Choice<train::Dataset> dataset;
    std::int64_t best = 20, users = 500;
    std::vector<double> ease_lambda;
    double ease_memory = 1e9;
    static void describe(deck::Describe<Params>& d);
  };
  Recommend(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv", "recommended.csv"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  /// For each evaluated user, in their order: recall, ndcg, recall of new items, whether there are any, then the ranked
  /// list.
  struct Judged {
    std::string method;
    std::vector<double> numbers;
  };
  std::size_t each() const { return static_cast<std::size_t>(4 + params_.best); }
  void choose_users(const ChoiceTable& table);
  void note(const ListScore& score, std::size_t user, Judged& out) const;
  Judged judge(const ChoiceTable& table, const ChoiceBaseline& baseline, const Comm& comm) const;
  Judged judge(const std::shared_ptr<const ChoiceTable>& table, TrainedModel& model, const Comm& comm) const;
  Judged judge_by_vectors(const std::shared_ptr<const ChoiceTable>& table, TrainedModel& model, const Comm& comm) const;
  double mean(const Judged& judged, std::size_t which) const;
  void write(const std::vector<Judged>& all, const ChoiceTable& table, Context& context);

  Params params_;
  std::vector<std::int32_t> users_;  ///< evaluated users
  std::vector<double> popular_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_, settings_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::relate
