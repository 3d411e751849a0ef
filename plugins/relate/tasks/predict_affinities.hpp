#pragma once
#include <optional>
#include <span>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/relate/datasets/pairs.hpp"
#include "plugins/relate/tasks/model_predictions.hpp"

namespace cambium::relate {

/// The stage `predict_affinities`: predictions of networks for unseen pairs of compounds and targets, compared with
/// cheap baselines, and a table of the pairs.
class PredictAffinities : public Task {
 public:
  struct Params {
    std::vector<std::string> models;
    deck::Choice<train::Dataset> dataset;
    std::optional<double> strong;
    std::int64_t show = 10;
    static void describe(deck::Describe<Params>& d);
  };
  PredictAffinities(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv", "affinities.csv"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Row {
    std::string method;
    std::vector<double> value;    ///< of each test pair
    std::vector<double> of_held;  ///< of each pair of a validation fold, not used in the fit; or empty
  };
  std::vector<Row> baselines(const Pairs& pairs) const;
  static Row best_of_held(const std::vector<Row>& rows, std::span<const double> truth);
  void add_networks(const Pairs& pairs, train::Dataset& tests, Context& context, std::vector<Row>& rows);
  void write_scores(const std::vector<Row>& rows, Context& context);
  void write_predictions(const Pairs& pairs, const Row& shown, const Row& neighbours, Context& context);

  Params params_;
  std::vector<std::size_t> tested_;  ///< pairs of the table
  std::vector<double> truth_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::relate
