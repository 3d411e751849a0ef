#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/step/training_step.hpp"

namespace cambium::train {

/// Keys of what is kept of steps whose loss stands out.
struct LossSpikeKeys {
  double factor = 3.0;
  std::int64_t window = 50, keep = 3;
  static void describe(deck::Describe<LossSpikeKeys>& d);
};

/// Finds steps whose loss exceeds a multiple of the running median of the steps before, and writes their batches.
class LossSpikes {
 public:
  explicit LossSpikes(const LossSpikeKeys& keys) : keys_(keys) {}
  /// The median that the loss of this step exceeds by more than the factor, while fewer than `keep` were found; none
  /// before the window is full.
  std::optional<double> look(double loss);
  /// Number found, then the losses of the window, for checkpoints.
  std::vector<double> kept() const;
  void take(std::span<const double> kept);

 private:
  LossSpikeKeys keys_;
  std::int64_t found_ = 0;
  std::vector<double> window_;  ///< in the order of the steps
};

/// A step whose loss stands out.
struct LossSpike {
  std::int64_t step = 0;  ///< counted from 1
  double median = 0.0;    ///< of the losses before
};

/// Collective: the samples of a step of all ranks in one HDF5 file of rank 0: "id" (numbers in the data set), "rank",
/// and those of `fields` whose samples have one shape, as float64; attributes step, loss, median and term_<name>.
/// InputError when the disk refuses.
void write_spike_batch(const std::string& path, const LossSpike& spike, const Share& share, const Loss& loss,
                       const std::vector<TermInfo>& terms, const std::vector<FieldInfo>& fields,
                       const Context& context);

}  // namespace cambium::train
