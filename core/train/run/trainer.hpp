#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/driver/cadence/loop_cadence.hpp"
#include "core/io/tables/table_file.hpp"
#include "core/train/networks/artifact/artifact.hpp"
#include "core/train/run/mllog.hpp"
#include "core/train/run/progress.hpp"
#include "core/train/run/train.hpp"
#include "core/train/run/train_checkpoint.hpp"
#include "core/train/run/validation.hpp"
#include "core/train/weights/divided/sharded_model.hpp"

namespace cambium::train {

/// What somebody else wants to see of a training under way, and may end; both are called on every rank.
struct Watch {
  std::function<void()> after_step;
  /// The least measure so far; false ends the training.
  std::function<bool(std::int64_t step, std::int64_t steps, double best)> after_validation;
};

/// A train stage from construction to its files.
class Trainer {
 public:
  /// Makes the objects that the deck names; opens no data. Members of a committee differ in their seed, but hold out
  /// the same samples.
  Trainer(const Train::Params& params, Context& context, int member = 0, Watch watch = {});
  /// Prints what would be trained and how.
  void report_plan() const;
  Task::Outcome run();

  // For the last page, after run(); lines() is collective.
  Task::Work work() const;
  std::vector<std::string> lines();
  const std::vector<std::string>& files() const { return files_; }
  std::vector<Citation> citations() const;

  /// Of the validation (infinite without one), and the step at which it was reached.
  double best_measure() const { return progress_.best_metric; }
  std::int64_t best_step() const { return progress_.best_step; }
  std::int64_t step() const { return progress_.step; }

 private:
  // trainer_setup.cpp
  void open_data();
  void make_buffers();
  void after_buffers();
  void start_fresh();
  void resume(const std::string& checkpoint);
  void open_tables(std::optional<std::int64_t> resumed_at,
                   const std::string& checkpoint = {});  ///< checkpoint: what says what they held
  BatchPlan plan() const;
  CheckpointKey checkpoint_key() const;

  // trainer.cpp
  Task::Outcome loop(LoopCadence& cadence);
  void advance();
  double compute_gradient(const Batch& batch, double rate);
  void watch(double loss, const std::vector<TermSum>& terms);
  void require_measure() const;
  void require_room() const;
  double measure_of(const std::vector<double>& errors) const;
  void validate();
  void keep_best(double measure, const std::vector<double>& values);
  void write_checkpoint();
  bool out_of_patience() const;
  bool ended() const { return ended_ || out_of_patience(); }
  double rate_at(std::int64_t step) const;
  /// The weights that are validated and exported, together while `use` runs. Collective.
  void with_trained(const std::function<void(FlatBuffer&)>& use);
  void with_best(const std::function<void(FlatBuffer&)>& use);
  void keep_best();
  void update(double rate);
  Communication& communication();
  const FlatLayout& layout() const { return sharded_ ? sharded_->layout() : *layout_; }

  // trainer_sharded.cpp
  void make_sharded();
  void start_weights(const std::function<void(FlatBuffer&)>& fill);
  void fill_whole(Progress& whole, std::vector<Counted>& counted);
  void read_sharded(const std::string& path, std::int64_t& ranks);

  // trainer_direct.cpp
  void make_direct();
  void fill_direct();
  void read_direct(const std::string& path, std::int64_t& ranks);
  void drop_copies();
  double share_changed(double count) const;
  Counted counted_copy(FlatBuffer& buffer);

  // trainer_output.cpp
  void print_header() const;
  void print_row();
  void write_model(const std::string& name, const FlatBuffer& weights, std::int64_t step);
  std::vector<std::string> export_models();
  void write_files();
  void add_communication(std::vector<std::string>& lines);
  [[noreturn]] void keep_best_and_rethrow(const NumericalError& error);

  const Train::Params& params_;
  Context& context_;
  std::uint64_t shared_seed_, seed_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Dataset> whole_, training_, held_out_;  ///< training_ and held_out_ may be parts of whole_
  std::unique_ptr<Loader> loader_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<LearningRate> rate_;
  std::unique_ptr<Validation> validation_;
  std::int64_t steps_ = 0;
  std::vector<TermInfo> terms_, metrics_;

  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<FlatLayout> layout_;
  std::unique_ptr<Reducer> reducer_;
  FlatBuffer gradients_;
  std::unique_ptr<ShardedModel>
      sharded_;  ///< with `parallel`, instead of the layout, reducer, gradients, weights and states
  std::unique_ptr<DirectWeights> direct_;  ///< with `direct`, instead of the weights
  std::vector<Counted> direct_counts_;     ///< of gradients and states
  double flips_window_ = 0.0,
         flips_last_ = 0.0;  ///< direct weights that changed, of this rank's part: since the last row, in the last step
  Progress progress_;

  std::unique_ptr<io::TableFile> training_table_, validation_table_;
  std::vector<FieldRange> ranges_;    ///< for the model file; rank 0, once
  std::vector<double> last_metrics_;  ///< of the best or the last validation
  Watch watch_;
  bool ended_ = false;  ///< by watch_
  MlLog mllog_;
  double last_clip_norm_ = 0.0;
  double seconds_ = 0.0;  ///< that the loop took
  std::int64_t loop_steps_ = 0;
  std::vector<std::string> files_;
};

}  // namespace cambium::train
