#pragma once
#include "apps/cambium/plan/machine.hpp"
#include "core/plugin/cost.hpp"

namespace cambium {

/// Seconds of one step.
struct StepSeconds {
  double work = 0.0;
  double neighbours = 0.0;   ///< that messages to neighbours take
  double collectives = 0.0;  ///< that sums and gathers take
  double hidden = 0.0;       ///< of these, overlapped with work
  double total() const { return work + neighbours + collectives - hidden; }
};

/// A step of that cost on `ranks` devices. `rate`: items per second and rank; if 0, the time is that of the operations
/// at the double-precision peak or of the memory traffic at the memory bandwidth, whichever is longer. Work repeated on
/// every rank is added to a rate. A round of messages takes the latency of the outermost level that it crosses, and the
/// bytes that leave a unit pass its link; sums use a tree on each level, gathers bring every rank the data of all
/// others.
StepSeconds seconds_of(const StepCost& cost, double rate, int ranks, const Machine& machine);

}  // namespace cambium
