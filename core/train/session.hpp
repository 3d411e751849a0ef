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

/// Training inside another program: it calls step() with its own arrays whenever it has some. MPI must be initialised;
/// Kokkos is started where the program has not. Every function but steps(), outputs() and infer() is collective over
/// the communicator, and every rank may bring another number of samples, none included. A call that fails leaves the
/// session as it was: one that had no network yet goes on saying so.
class Session {
 public:
  /// Keys of the deck; those that the stage `train` has mean the same there.
  struct Params : StepKeys {
    std::int64_t steps = 1000000;
    std::int64_t seed = 1;
    int log = 0;
    static void describe(deck::Describe<Params>& d);
  };

  /// Adds types to a registry: plugins' networks, beside core's own.
  using Fill = std::function<void(Registry&)>;
  /// `deck`: YAML text (it contains a line break or a ':'), or the name of a file. DeckError with all its problems.
  Session(MPI_Comm comm, const std::string& deck, const Fill& plugins = {});
  ~Session();

  /// One optimizer step on the samples of all ranks. The first call shows all of them to the network (sizes,
  /// statistics); later calls must bring the same fields. Returns the weighted loss of the global batch, each
  /// term's mean being over what it counts, as the stage `train` prints it.
  /// NumericalError when it is no number: the weights are then those before the step.
  double step(std::span<const HostArray> arrays);
  /// Values of the network's metrics on the samples of all ranks.
  std::vector<double> evaluate(std::span<const HostArray> arrays);
  /// Outputs for this rank's samples into the caller's memory, any strides; names and shapes as outputs() says.
  void infer(std::span<const HostArray> inputs, std::span<const HostArray> outputs);

  /// Everything that goes on changing, complete or not at all, to resume bit for bit on the same number of ranks.
  void save(const std::string& path);
  /// A file that save() or the stage `train` wrote (restart.*.h5), with the same network, optimizer, reduce and seed.
  void load(const std::string& path);
  /// The trained model as `cambium` reads it (model.h5).
  void write_model(const std::string& path);

  std::int64_t steps() const { return progress_.step; }
  /// Known after the first step() or load().
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
  std::vector<FieldRange> ranges_;  ///< of its numbers, for the model file
  std::vector<TermInfo> metrics_;
  Progress progress_;
};

}  // namespace cambium::train
