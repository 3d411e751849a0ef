#pragma once
#include "apps/cambium/plan/machine.hpp"
#include "core/plugin/cost.hpp"

namespace cambium {

/// Seconds of one step.
struct StepSeconds {
  double work = 0.0;
  double neighbours = 0.0;   ///< that messages to neighbours take
  double collectives = 0.0;  ///< that sums and gathers take
  double hidden = 0.0;       ///< of these, behind work
  double total() const { return work + neighbours + collectives - hidden; }
};

/// A step of that cost on so many devices. `rate`: items per second and rank; when 0 the operations at the peak in
/// double precision or what moves at the memory's bandwidth say it, whichever takes longer. What every rank repeats
/// comes on top of a rate. A round of messages takes the latency of the outermost level that it crosses, and the bytes
/// that leave a unit pass its link; sums go over a tree on each level, gathers bring every rank all that the others
/// have.
StepSeconds seconds_of(const StepCost& cost, double rate, int ranks, const Machine& machine);

}  // namespace cambium
