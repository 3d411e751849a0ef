#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/data/memory_set.hpp"
#include "core/train/step/progress.hpp"
#include "core/train/step/training_step.hpp"

namespace cambium::train {

/// Training from within another program, which calls step() with its own arrays at any time. MPI must be initialised;
/// Kokkos is started if the program has not done so. All functions except steps(), outputs() and infer() are collective
/// over the communicator, and every rank may pass a different number of samples, including none. A failed call leaves
/// the session unchanged: a session without a network still has none.
class Session {
 public:
  /// Keys of the deck; keys shared with the stage `train` have the same meaning.
  struct Params : StepKeys {
    std::optional<std::int64_t> steps;  ///< of the learning rate schedule
    std::int64_t seed = 1;
    int log = 0;
    static void describe(deck::Describe<Params>& d);
  };

  /// Adds types to a registry: networks of plugins, in addition to the core ones.
  using Fill = std::function<void(Registry&)>;
  /// `deck`: YAML text (it contains a line break or a ':'), or the name of a file. DeckError with all errors.
  Session(MPI_Comm comm, const std::string& deck, const Fill& plugins = {});
  ~Session();

  /// One optimizer step on the samples of all ranks. The first call passes all of them to the network (sizes,
  /// statistics); later calls must have the same fields. Returns the weighted loss of the global batch as printed by
  /// the stage `train`, the mean of each term being over its own count. NumericalError if it is NaN: the weights are
  /// then those before the step.
  double step(std::span<const HostArray> arrays);
  /// Values of the network's metrics on the samples of all ranks.
  std::vector<double> evaluate(std::span<const HostArray> arrays);
  /// Writes outputs for this rank's samples to the caller's memory, any strides; names and shapes as in outputs().
  void infer(std::span<const HostArray> inputs, std::span<const HostArray> outputs);

  /// Writes the complete state, all or nothing, to resume bitwise identically on the same number of ranks.
  void save(const std::string& path);
  /// Reads a file of save() or the stage `train` (restart.*.h5), with the same network, optimizer, reduce and seed.
  void load(const std::string& path);
  /// Writes the trained model as read by `cambium` (model.h5).
  void write_model(const std::string& path);

  std::int64_t steps() const { return progress_.step; }
  /// Valid after the first step() or load().
  std::vector<FieldInfo> outputs() const;
  const std::vector<TermInfo>& metrics() const { return metrics_; }

 private:
  std::unique_ptr<TrainingStep> new_step();
  double stepped(std::span<const HostArray> arrays);
  void begin(const MemorySet& own);
  Progress prepare(TrainingStep& step) const;
  void require_same_fields(const MemorySet& own) const;
  void require_ready(const char* what) const;

  Params params_;
  Comm comm_;
  Log log_;
  Timing timing_;
  Registry registry_;
  Context context_;
  std::unique_ptr<TrainingStep> step_;
  std::vector<FieldInfo> fields_;   ///< of the first step, or of the first one after load()
  std::vector<FieldRange> ranges_;  ///< of its values, for the model file
  std::vector<TermInfo> metrics_;
  Progress progress_;
};

}  // namespace cambium::train
