#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/pretrain/features/methods.hpp"

namespace cambium::pretrain {

/// The stage `probe`: classification of test samples from training samples, by nearest neighbours and by a linear fit,
/// with all labels and with a few of each class, on an encoder's vectors and on features without training.
class Probe : public Task {
 public:
  enum class By { label, simulation };
  struct Params {
    std::optional<std::string> model;
    deck::Choice<train::Dataset> training;
    deck::Choice<train::Dataset> test;
    By by = By::label;
    std::int64_t neighbours = 20, few = 10, draws = 10, batch = 64;
    std::optional<double> ridge;
    static void describe(deck::Describe<Params>& d);
  };
  Probe(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override { return {"scores.csv"}; }
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Row;
  Row judged(const Method& method, const std::vector<std::int64_t>& known, const std::vector<std::int64_t>& truth,
             Context& context) const;

  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::pretrain
