#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/deepmd/data/extxyz_keys.hpp"
#include "plugins/deepmd/engine/engine.hpp"
#include "plugins/deepmd/model/citations.hpp"

namespace cambium::deepmd {

/// The stage `test`: errors of a model on labelled systems and frames, and data for parity plots.
class TestStage : public Task {
 public:
  struct Params {
    std::string model;
    std::vector<std::string> systems;
    ExtxyzKeys labels;
    EnginePrecision precision = EnginePrecision::float64;
    static void describe(deck::Describe<Params>& d);
  };
  TestStage(const Params& params, Context&);  ///< InputError without a system
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<std::string> files() const override { return {"errors.csv", "parity_*.csv", "parity_*.h5"}; }
  std::vector<Citation> citations() const override { return model_citations(); }

 private:
  Params params_;
  Work work_;
};

}  // namespace cambium::deepmd
