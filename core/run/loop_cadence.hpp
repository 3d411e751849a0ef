#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/parallel/context.hpp"

namespace cambium {

/// Services of a loop that can be stopped and resumed, in addition to its steps. Steps are counted from the beginning
/// of the stage, including those of earlier runs.
class LoopCadence {
 public:
  struct Keys {
    std::int64_t first = 0;             ///< step from which this run continues
    std::optional<std::int64_t> last;   ///< absent when the loop has an end of its own
    std::int64_t checkpoint_every = 0;  ///< 0: only when it is stopped
    std::string rate = "steps/s";       ///< of the progress line
    double per_step = 1.0;              ///< amount per step
  };
  /// The clock starts.
  LoopCadence(Keys keys, Context& context);

  /// True if something with a period of `every` steps is due after this step, and after the last one.
  bool due(std::int64_t step, std::int64_t every) const { return step % every == 0 || step == keys_.last; }
  /// Collective, after each step: writes a checkpoint when one is due, and when the loop must end here, which all ranks
  /// learn at the same step. True then.
  bool stops_after(std::int64_t step, const std::function<void()>& write_checkpoint);
  /// Progress line that overwrites itself, at most twice a second. `share`: fraction of the work that is done, for
  /// loops without a last step.
  void show_progress(std::int64_t step, double share = 0.0);

  double seconds() const;
  std::int64_t steps_at(std::int64_t step) const { return step - keys_.first; }

 private:
  Keys keys_;
  Context& context_;
  double started_, next_progress_ = 0.5;  ///< seconds into the loop
};

}  // namespace cambium
