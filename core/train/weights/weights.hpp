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

/// Parameters of one step, the same on every rank.
struct StepNumbers {
  double factor = 1.0;  ///< factor of the summed gradients: 1 / samples of the global batch
  std::optional<Clip> clip;
  double rate = 0.0;      ///< learning rate
  std::int64_t step = 1;  ///< counted from 1
};

/// Weights under training as stored in files: complete, independent of their distribution. Buffers are views or copies,
/// valid as long as this and the weights exist.
struct Snapshot {
  FlatBuffer weights;
  std::vector<double> grids;       ///< steps of the grids of direct weights, matrix by matrix; else empty
  std::vector<FlatBuffer> states;  ///< in the order of Weights::states()
  FlatBuffer average;              ///< empty if none is kept
  FlatBuffer best;                 ///< valid only if has_best
  bool has_best = false;
  std::vector<Counted> counted;  ///< accounts for the copies in the memory ledger
};

/// Arguments for the gradient of one slice, as in Network::gradient(). Views are valid until the next slice.
struct Pass {
  std::span<const TensorRef> weights, gradients;
  ReadyCallback ready;
};

/// Weights of a network under training, their gradients and the optimizer's states. Implementations differ in storage:
/// replicated, low-bit, or sharded over ranks. Every rank makes the same calls in the same order: start() or load()
/// once, then steps, and the others between them. A step is begin(), for each slice of this rank pass() and the
/// gradient that is computed with it, finish(), update().
class Weights {
 public:
  using Use = std::function<void(FlatBuffer& whole)>;
  virtual ~Weights() = default;

  virtual const FlatLayout& layout() const = 0;
  /// True if pass() returns views of device memory, where the first slice with samples overwrites the gradients and the
  /// network is a TrainsOnDevice.
  virtual bool on_device() const { return false; }
  /// For files: the optimizer's states, and those that an implementation adds.
  virtual std::vector<Optimizer::StateInfo> states() const = 0;
  /// Ranks that alternate in the slices of an ordered batch (BatchPlan::turns).
  virtual int turns() const { return 1; }
  virtual Communication& communication() = 0;

  /// Initial weights: `fill` writes the same ones on every rank, and the optimizer starts with them.
  virtual void start(const Use& fill) = 0;
  /// The same with weights on `grids`, as returned by grids() of another training: direct weights of the same number of
  /// bits keep these grids, so no weight changes.
  virtual void start_on(std::span<const Grid> /*grids*/, const Use& fill) { start(fill); }
  /// For direct weights, one per matrix of a linear layer, in order; else empty.
  virtual std::vector<Grid> grids() const { return {}; }
  /// Collective. Starts a step with this number of local slices.
  virtual void begin(int slices) = 0;
  /// For the next slice. Other ranks wait for data that is sent while it is computed.
  virtual Pass pass() = 0;
  /// Replaces pass() for a slice without samples.
  virtual void skip() = 0;
  /// Collective. Completes the sum of the gradients of all slices of all ranks.
  virtual void finish() = 0;
  /// Collective, after finish(): sum of squares of each tensor's gradient. Empty if gradients are not kept until then.
  virtual std::vector<double> squared_gradients() { return {}; }
  virtual bool keeps_gradients() const { return false; }
  /// Collective. Scales and clips the gradients and updates weights and states. Returns the norm before clipping; NaN
  /// if it was not requested.
  virtual double update(const StepNumbers& numbers) = 0;

  /// Collective. Calls `use` with the complete weights for validation and export (the average if one is kept).
  virtual void whole(const Use& use) = 0;
  /// Stores the weights that whole() would pass, replacing previous best weights.
  virtual void keep_best() = 0;
  /// Collective. Calls `use` with the weights of keep_best() or load().
  virtual void whole_best(const Use& use) = 0;

  /// Collective. Content of a file, including the best weights if `with_best`.
  virtual Snapshot save(bool with_best) = 0;
  /// `read` fills the buffers of a snapshot, which have the size required in a file, and sets whether it includes a
  /// best model. An error leaves the weights unusable.
  virtual void load(const std::function<void(Snapshot&)>& read) = 0;

  /// For files without a complete copy on any rank; null if weights are replicated.
  virtual InPieces* in_pieces() { return nullptr; }
  /// Alternative to start(), whole() and whole_best() without a complete copy on any rank; null if not needed.
  virtual ByModule* by_module() { return nullptr; }

  /// Additional columns of the log, each a mean over the `steps` since the last call. figures() is collective; none by
  /// default.
  virtual std::vector<io::Column> columns() const { return {}; }
  virtual std::vector<double> figures(std::int64_t /*steps*/) { return {}; }
  /// Collective. Lines for the stage summary: memory in use.
  virtual std::vector<std::string> report() { return {}; }
};

}  // namespace cambium::train
