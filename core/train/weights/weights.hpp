#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/io/csv.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/memory.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/optimizers/clip.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/reduce/reducer.hpp"
#include "core/train/weights/grid.hpp"

namespace cambium::train {

class ByModule;
class InPieces;

/// Numbers of one step, the same on every rank.
struct StepNumbers {
  double factor = 1.0;  ///< what the sum of the gradients is multiplied by: 1 / samples of the global batch
  std::optional<Clip> clip;
  double rate = 0.0;      ///< learning rate
  std::int64_t step = 1;  ///< counted from 1
};

/// Weights under training in files: whole, as files do not know how they were held. Buffers are views or copies, for as
/// long as this and the weights live.
struct Snapshot {
  FlatBuffer weights;
  std::vector<double> grids;       ///< steps of the grids of direct weights, matrix by matrix; none of others
  std::vector<FlatBuffer> states;  ///< in the order of Weights::states()
  FlatBuffer average;              ///< empty where none is kept
  FlatBuffer best;                 ///< means something with has_best alone
  bool has_best = false;
  std::vector<Counted> counted;  ///< the copies, in the ledger of what is held
};

/// Arguments for the gradient of one slice, as Network::gradient() takes them. Views hold until the next slice.
struct Pass {
  std::span<const TensorRef> weights, gradients;
  ReadyCallback ready;
};

/// Weights of a network under training, their gradients and the optimizer's states. Implementations differ in where
/// these lie: whole on every rank, in few bits, divided among ranks. Every rank makes the same calls in the same order:
/// start() or load() once, then steps, and the others between them. A step is begin(), for each slice of this rank
/// pass() and the gradient that is computed with it, finish(), update().
class Weights {
 public:
  using Use = std::function<void(FlatBuffer& whole)>;
  virtual ~Weights() = default;

  virtual const FlatLayout& layout() const = 0;
  /// True if pass() hands out views of the device's memory, where the first slice with samples writes over the
  /// gradients and the network is a TrainsOnDevice.
  virtual bool on_device() const { return false; }
  /// For files: the optimizer's, and what an implementation adds.
  virtual std::vector<Optimizer::StateInfo> states() const = 0;
  /// Ranks that take turns with the slices of an ordered batch (BatchPlan::turns).
  virtual int turns() const { return 1; }
  virtual Communication& communication() = 0;

  /// First weights: `fill` writes the same ones on every rank, and the optimizer starts with them.
  virtual void start(const Use& fill) = 0;
  /// The same with weights that lie on `grids`, as grids() gave them of another training: direct weights of the same
  /// number of bits keep these, and no weight moves.
  virtual void start_on(std::span<const Grid> /*grids*/, const Use& fill) { start(fill); }
  /// For direct weights, for each matrix of a linear layer in order; none of others.
  virtual std::vector<Grid> grids() const { return {}; }
  /// Collective. A step begins, of so many slices of this rank.
  virtual void begin(int slices) = 0;
  /// For the next slice. What is sent while it is computed, others wait for.
  virtual Pass pass() = 0;
  /// In the place of pass(), for a slice without samples.
  virtual void skip() = 0;
  /// Collective. The sum of the gradients of all slices of all ranks stands where it is kept.
  virtual void finish() = 0;
  /// Collective, behind finish(): sum of squares of each tensor's gradient as it stands there. Empty where the
  /// gradients are not kept until then.
  virtual std::vector<double> squared_gradients() { return {}; }
  virtual bool keeps_gradients() const { return false; }
  /// Collective. The gradients are scaled, bounded, and change weights and states. Returns the norm that was bounded;
  /// NaN when none was asked for.
  virtual double update(const StepNumbers& numbers) = 0;

  /// Collective. What is validated and exported (the average where one is kept), whole while `use` runs.
  virtual void whole(const Use& use) = 0;
  /// Keeps what whole() shows; it takes the place of what was kept before.
  virtual void keep_best() = 0;
  /// Collective. What keep_best() or load() kept.
  virtual void whole_best(const Use& use) = 0;

  /// Collective. For a file; with what was kept last where `with_best`.
  virtual Snapshot save(bool with_best) = 0;
  /// `read` fills the buffers of a snapshot, which are as large as a file must have them, and says whether it holds a
  /// best model. An error leaves the weights unusable.
  virtual void load(const std::function<void(Snapshot&)>& read) = 0;

  /// For files that no rank has to hold whole; null where save() hands out what every rank holds anyway.
  virtual InPieces* in_pieces() { return nullptr; }
  /// For what start(), whole() and whole_best() are for, without a rank that holds all; null where they are asked.
  virtual ByModule* by_module() { return nullptr; }

  /// Figures that the log shows beside the loss, each a mean over the `steps` since the last call. figures() is
  /// collective; none by default.
  virtual std::vector<io::Column> columns() const { return {}; }
  virtual std::vector<double> figures(std::int64_t /*steps*/) { return {}; }
  /// Collective. Lines for the last page: what is held.
  virtual std::vector<std::string> report() { return {}; }
};

}  // namespace cambium::train
