#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::pretrain {

/// The stage `embed`: a trained encoder's vectors of all samples of a data set, in vectors.h5: /vector and, if the
/// encoder has one, /partner, over (sample, component), together with /simulation, /moment, /time, /label and
/// /parameters if samples have them.
class Embed : public Task {
 public:
  struct Params {
    std::string model;
    deck::Choice<train::Dataset> dataset;
    std::int64_t batch = 64;
    static void describe(deck::Describe<Params>& d);
  };
  Embed(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"vectors.h5"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::pretrain
