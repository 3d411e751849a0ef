#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "core/train/data/augment.hpp"
#include "core/train/kinds/loader.hpp"
#include "core/train/run/checkpoint_keys.hpp"
#include "core/train/run/loss_spikes.hpp"
#include "core/train/run/submission.hpp"
#include "core/train/step/step_keys.hpp"

namespace cambium {
class Registry;
}

namespace cambium::train {

class Trainer;

/// The stage `train`: a network fitted to a data set.
class Train : public Task {
 public:
  struct Validate {
    std::int64_t every = 100;
    bool keep_best = true;
    std::vector<double> measure = {1.0};
    std::int64_t patience = 0;
    std::int64_t batch = 8;
    std::optional<double> target;
    std::string quality;
    static void describe(deck::Describe<Validate>& d);
  };
  using Checkpoint = TrainCheckpointKeys;
  struct Params : StepKeys {
    deck::Choice<Dataset> dataset;
    std::optional<deck::Choice<Dataset>> validation;
    double hold_out = 0.0;
    deck::Choice<Loader> loader;
    BatchPlan::Permutation permutation = BatchPlan::Permutation::stored;
    std::vector<AugmentKeys> augment;
    std::optional<std::int64_t> batch;
    std::optional<std::int64_t> steps;
    std::optional<double> epochs;
    int accumulate = 1;
    std::optional<ActivationParams> activations;
    Validate validate;
    Checkpoint checkpoint;
    std::int64_t log = 100;
    double explode = 1e4;
    std::string start_from;
    std::optional<std::int64_t> seed;
    int models = 1;
    bool mllog = false;
    std::optional<Submission> submission;
    bool tensorboard = false, gradient_norms = false;
    std::optional<LossSpikeKeys> loss_spikes;
    static void describe(deck::Describe<Params>& d);
  };

  Train(const Params& params, Context&);
  ~Train() override;
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override;
  std::vector<Result> results() const override;
  std::vector<std::string> lines() const override;
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override;

 private:
  Outcome run_committee(Context&);
  Params params_;
  std::unique_ptr<Trainer> trainer_;  ///< once it runs; null for a committee
  int begun_ = 0;                     ///< members of a committee that were started
  std::vector<Citation> cited_;       ///< by the committee's members
};

}  // namespace cambium::train
