#pragma once
#include <optional>
#include <string>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"

namespace cambium::train {

/// The stage `evaluate`: errors of a trained model (model.h5 of a train stage) on a data set and, with `quantize`, of
/// the same model with quantised weights for comparison. Labels and predictions are written to tables.
class Evaluate : public Task {
 public:
  struct Params {
    std::string model;
    deck::Choice<Dataset> dataset;
    std::int64_t batch = 8;
    bool parity = true;
    std::optional<QuantizeParams> quantize;
    std::optional<double> limit;
    bool allow_other_parameters = false;
    static void describe(deck::Describe<Params>& d);
  };
  Evaluate(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return files_; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  void run_by_module(Dataset& data, Context& context);

  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> files_;
  std::vector<Citation> citations_;
};

/// A warning if passes over samples took `few` s with quantised weights and `full` s without; empty if quantised
/// weights are not slower.
std::string slower_with_few_bits(double full, double few, std::int64_t batch);

}  // namespace cambium::train
