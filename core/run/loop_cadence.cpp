#include "core/run/loop_cadence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/parallel/stop_request.hpp"

namespace cambium {

LoopCadence::LoopCadence(Keys keys, Context& context)
    : keys_(std::move(keys)), context_(context), started_(wall_seconds()) {}

double LoopCadence::seconds() const { return wall_seconds() - started_; }

bool LoopCadence::stops_after(std::int64_t step, const std::function<void()>& write_checkpoint) {
  const bool periodic = keys_.checkpoint_every > 0 && step % keys_.checkpoint_every == 0;
  const bool stop = context_.stop && context_.stop->agreed(step) && (!keys_.last || step < *keys_.last);
  if (periodic || stop) write_checkpoint();
  return stop;
}

void LoopCadence::show_progress(std::int64_t step, double share) {
  const double elapsed = seconds();
  if (elapsed < next_progress_) return;  // reading the clock is cheap, formatting is not
  next_progress_ = elapsed + 0.5;
  const auto done = static_cast<double>(steps_at(step));
  double here = share;
  if (keys_.last) {
    const auto all = static_cast<double>(*keys_.last);
    share = static_cast<double>(step) / all;
    here = done / all;  // steps of earlier runs took no time here
  }
  const auto left = static_cast<long>(elapsed * (1.0 - share) / std::max(here, 1e-9));
  context_.log.progress(fmt::format("step {}{} ({:.0f} %), {:.4g} {}, {:02}:{:02}:{:02} left", step,
                                    keys_.last ? fmt::format(" of {}", *keys_.last) : "", 100.0 * share,
                                    done / elapsed * keys_.per_step, keys_.rate, left / 3600, left / 60 % 60,
                                    left % 60));
}

}  // namespace cambium
