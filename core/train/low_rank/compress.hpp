#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/kinds/dataset.hpp"
#include "core/train/low_rank/compress_table.hpp"

namespace cambium::train {

class Trainer;

/// The stage `compress`: a trained network whose layers become products of smaller ones, so that a pass takes a given
/// part of its time here, then trained on. Writes an ordinary model file.
class Compress : public Task, public Checked {
 public:
  struct FineTune {
    std::int64_t steps = 1000, batch = 32;
    double learning_rate = 1e-3;
    static void describe(deck::Describe<FineTune>& d);
  };
  struct Params {
    std::string model;
    deck::Choice<Dataset> dataset;
    std::optional<deck::Choice<Dataset>> validation;
    std::optional<double> budget, latency;  ///< share of the time; s
    std::int64_t samples = 256, batch = 32, multiple = 8;
    std::optional<FineTune> fine_tune;
    std::optional<double> accept;
    static void describe(deck::Describe<Params>& d);
  };
  Compress(const Params& params, Context&);
  ~Compress() override;
  void check(Context&) override;
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<std::string> lines() const override { return lines_; }
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override { return citations_; }

 private:
  struct Samples;
  CompressTable compressed(LoadedModel& whole, const Samples& samples, Context& context);
  Outcome train_on(const LoadedModel& whole, const Assembled& factors, Context& context);

  Params params_;
  Work work_;
  std::vector<std::string> lines_;
  std::vector<Citation> citations_;
};

}  // namespace cambium::train
