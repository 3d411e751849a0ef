#pragma once
#include <map>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::pretrain {

/// The stage `surrogate`: predicts properties of a run from its parameters only. A smooth fit of physical features
/// (means over a run's snapshots) to the parameters of an archive is compared with runs that are not in it; then the
/// same with further runs added, and each with the nearest run of the archive as a baseline. Writes errors.csv.
class Surrogate : public Task {
 public:
  struct Params {
    deck::Choice<train::Dataset> archive, test;
    std::map<std::string, std::string> runs;
    static void describe(deck::Describe<Params>& d);
  };
  Surrogate(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"errors.csv"}; }

 private:
  /// The archive, and the archive with each table of further runs.
  std::vector<std::pair<std::string, deck::Choice<train::Dataset>>> archives() const;
  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
};

}  // namespace cambium::pretrain
