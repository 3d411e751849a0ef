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

/// Keys of the detection and recording of loss spikes.
struct LossSpikeKeys {
  double factor = 3.0;
  std::int64_t window = 50, keep = 3;
  static void describe(deck::Describe<LossSpikeKeys>& d);
};

/// Detects steps whose loss exceeds a multiple of the running median of previous steps, and writes their batches.
class LossSpikes {
 public:
  explicit LossSpikes(const LossSpikeKeys& keys) : keys_(keys) {}
  /// The median if the loss of this step exceeds it by more than the factor and fewer than `keep` spikes were found;
  /// none before the window is full.
  std::optional<double> look(double loss);
  /// Number of spikes found, then the losses of the window, for checkpoints.
  std::vector<double> kept() const;
  void take(std::span<const double> kept);

 private:
  LossSpikeKeys keys_;
  std::int64_t found_ = 0;
  std::vector<double> window_;  ///< in the order of the steps
};

/// A step with a loss spike.
struct LossSpike {
  std::int64_t step = 0;  ///< counted from 1
  double median = 0.0;    ///< of the previous losses
};

/// Collective: writes the samples of a step of all ranks to one HDF5 file on rank 0: "id" (index in the data set),
/// "rank", and those of `fields` whose samples have the same shape, as float64; attributes step, loss, median and
/// term_<name>. InputError if writing fails.
void write_spike_batch(const std::string& path, const LossSpike& spike, const Share& share, const Loss& loss,
                       const std::vector<TermInfo>& terms, const std::vector<FieldInfo>& fields,
                       const Context& context);

}  // namespace cambium::train
