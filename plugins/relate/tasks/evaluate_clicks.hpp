#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/relate/datasets/record_set.hpp"
#include "plugins/relate/tasks/model_predictions.hpp"

namespace cambium::relate {

/// The stage `evaluate_clicks`: predicted probabilities of networks for unseen records, compared with logistic
/// regression on the same records.
class EvaluateClicks : public Task {
 public:
  struct Params {
    std::vector<std::string> models;
    deck::Choice<train::Dataset> training, dataset;
    static void describe(deck::Describe<Params>& d);
  };
  EvaluateClicks(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv", "clicks.csv"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Row {
    std::string method;
    std::vector<double> value;
  };
  void write(const std::vector<Row>& rows, const RecordSet& records, Context& context);

  Params params_;
  std::int64_t learned_ = 0;  ///< evaluated records that are also in training
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::relate
