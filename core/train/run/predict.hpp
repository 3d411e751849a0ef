#pragma once
#include <optional>
#include <string>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/run/apply_model.hpp"

namespace cambium::train {

/// The stage `predict`: predictions of a trained model (model.h5 of a train stage) for samples without labels, in
/// predicted.h5 and predicted.csv. If the samples have labels, also its errors.
class Predict : public Task {
 public:
  struct Params {
    std::string model;
    deck::Choice<Dataset> dataset;
    std::int64_t batch = 64;
    std::optional<bool> table;
    std::optional<double> limit;
    bool allow_other_parameters = false;
    static void describe(deck::Describe<Params>& d);
  };
  Predict(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return {summary_.samples, "sample"}; }
  std::vector<Result> results() const override { return summary_.results(); }
  std::vector<std::string> files() const override { return files_; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  std::unique_ptr<Dataset> opened(Context& context) const;
  std::optional<std::int64_t> limit() const;
  bool writes_table(std::span<const FieldInfo> outputs) const;

  Params params_;
  PredictionSummary summary_;
  std::vector<std::string> files_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::train
