#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::relate {

/// The stage `choose_row_bounds`: error bounds of embedding tables, one for each, from the AUC of held-out records.
class ChooseRowBounds : public Task {
 public:
  struct Params {
    std::string model;
    deck::Choice<train::Dataset> dataset;
    double tolerance = 1e-3, least = 1e-3, most = 1.0;
    static void describe(deck::Describe<Params>& d);
  };
  ChooseRowBounds(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"row_bounds.csv"}; }
  std::vector<Citation> citations() const override;

 private:
  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
};

}  // namespace cambium::relate
