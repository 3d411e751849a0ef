#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/timing.hpp"
#include "core/parallel/comm.hpp"
#include "core/plugin/physics.hpp"

namespace cambium {

/// What the last page of a stage says about its loop.
struct LoopSummary {
  double seconds = 0.0;
  std::int64_t steps = 0;
  Physics::Work work;
  double time_per_step = 0.0;  ///< physical time of one step, 0 when it has none
  std::string time_unit;
  bool items_per_second = false;  ///< "samples/s" instead of "atom-steps/s": the work's items are consumed
};

/// Collective. Rows of the end-of-run table: section, min, avg, max over ranks (s), share of the loop; then the rate
/// in the field's unit, and peak memory. The same lines on every rank.
std::vector<std::string> timing_table(const Timing& timing, const LoopSummary& loop, const Comm& comm);

/// Peak resident memory of this process in bytes.
double peak_memory();

}  // namespace cambium
