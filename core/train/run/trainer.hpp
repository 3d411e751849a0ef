#pragma once
#include <functional>
#include <memory>
#include <string>

#include "core/plugin/check.hpp"
#include "core/run/loop_cadence.hpp"
#include "core/train/run/checkpoint_writer.hpp"
#include "core/train/run/milestones.hpp"
#include "core/train/run/mllog.hpp"
#include "core/train/run/model_files.hpp"
#include "core/train/run/train.hpp"
#include "core/train/run/training_data.hpp"
#include "core/train/run/training_log.hpp"
#include "core/train/run/validation.hpp"
#include "core/train/step/training_step.hpp"

namespace cambium::train {

/// KeyError if validate.metric_weights has more entries than there are metrics.
void require_measure(const Train::Params& params, const std::vector<TermInfo>& metrics);

/// For `cambium check`, of a stage train with these keys: what the network will export; and if data and network exist
/// and are small, also opens the data, computes statistics and the gradient of a few samples, and estimates the time
/// from it. Returns the names of the data's fields, if they were opened.
std::vector<std::string> examine_training(const Train::Params& params, const deck::Node& keys, Check& check);

/// Interface of an observer of a running training, which may stop it; both functions are called on every rank.
struct Watch {
  std::function<void()> after_step;
  /// Called with the lowest measure so far; returning false stops the training.
  std::function<bool(std::int64_t step, std::int64_t steps, double best)> after_validation;
};

/// A train stage from construction to its files: the loop around a TrainingStep.
class Trainer {
 public:
  /// Creates the objects named in the deck without opening data. Members of a committee differ in their seed, but hold
  /// out the same samples.
  Trainer(const Train::Params& params, Context& context, int member = 0, Watch watch = {});
  /// Prints the planned training.
  void report_plan() const;
  Task::Outcome run();

  // For the stage summary, after run(); results() and lines() are collective.
  Task::Work work() const;
  std::vector<Result> results();
  std::vector<std::string> lines();
  const std::vector<std::string>& files() const { return files_; }
  std::vector<Citation> citations() const;

  /// Progress, with the measure (infinite without a validation) and step of the best validation.
  const Progress& progress() const { return progress_; }

 private:
  // trainer_start.cpp
  void bring_samples();
  void start_fresh();
  void require_same_network(const LoadedModel& model, bool same_precision);
  void start_from_model();
  void start_from_tensors();
  void resume(const std::string& checkpoint);
  void prepare();

  // trainer.cpp
  Task::Outcome loop(LoopCadence& cadence);
  void advance();
  void advance_on_device();
  void take_losses();
  void take(std::int64_t step, const Loss& loss);
  void look_at(std::int64_t step, const Share& share, const Loss& loss, std::int64_t samples);
  void write_spike(const LossSpike& spike, const Share& share, const Loss& loss);
  CheckpointKey checkpoint_key() const;
  CheckpointParts checkpoint_parts(const CheckpointKey& key, std::span<const io::TableFile* const> tables);
  void watch_terms(std::int64_t step, const Loss& loss);
  void tell(LoopCadence& cadence);
  std::vector<double> measure_with_labels(const std::vector<TermInfo>& metrics, const std::vector<TermSum>& sums);
  void validate();
  void keep_best(double measure, const std::vector<double>& errors);
  void write_checkpoint(bool in_memory);
  bool out_of_patience() const;
  bool ended() const { return ended_ || milestones_.reached() || out_of_patience(); }

  // trainer_end.cpp
  std::vector<std::string> write_models();
  std::string kept_weights() const;
  void write_files();
  void add_communication(std::vector<std::string>& lines);
  [[noreturn]] void keep_best_and_rethrow(const NumericalError& error);

  const Train::Params& params_;
  Context& context_;
  std::uint64_t shared_seed_, seed_;
  TrainingStep step_;
  TrainingData data_;
  TrainingLog log_;
  ModelFiles models_;
  std::unique_ptr<Validation> validation_;
  Progress progress_;
  Watch watch_;
  CheckpointWriter checkpoints_;
  bool ended_ = false;     ///< by watch_
  bool finished_ = false;  ///< the model is written
  bool said_what_measures_ = false;
  MlLog mllog_;
  Milestones milestones_;
  double seconds_ = 0.0;  ///< duration of the loop
  std::int64_t loop_steps_ = 0;
  std::optional<LossSpikes> spikes_;
  std::vector<std::string> files_, spike_files_;
};

}  // namespace cambium::train
