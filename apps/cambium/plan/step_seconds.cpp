#include "apps/cambium/plan/step_seconds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cambium {

namespace {

/// Rounds of a tree over this many members.
double rounds(int members) { return std::bit_width(static_cast<unsigned>(members) - 1u); }

double work_of(const StepCost& cost, double rate, const Machine& machine) {
  if (rate > 0.0) return cost.items / rate + cost.repeated / machine.memory_bandwidth;
  const double moving = cost.moved / machine.memory_bandwidth;
  if (machine.peak_double == 0.0) return moving;
  return std::max(moving, cost.operations / (machine.peak_double * machine.reached_peak));
}

/// Fraction of the messages to neighbours that leave a unit of `unit` consecutive ranks, in a grid whose last dimension
/// varies fastest with the rank.
double leaving(int unit, int dimensions) { return 1.0 - (1.0 - 1.0 / unit) / dimensions; }

double neighbour_seconds(const StepMessages& m, const Machine& machine, const std::vector<Machine::Filled>& levels) {
  double slowest = 0.0, latency = 0.0;
  int unit = 1;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (levels[k].ranks > 1) {
      const double through = std::max(m.sent, m.received) * unit * leaving(unit, m.dimensions);
      slowest = std::max(slowest, through / (machine.reached_links * machine.levels[k].bandwidth));
      latency = machine.levels[k].latency;
    }
    unit *= levels[k].ranks;
  }
  return m.rounds * latency + slowest;
}

double collective_seconds(const StepMessages& m, const Machine& machine, const std::vector<Machine::Filled>& levels) {
  const bool gathers = m.pattern == StepMessages::Pattern::gather;
  double seconds = 0.0;
  int unit = 1;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const auto& link = machine.levels[k];
    const double bandwidth = machine.reached_links * link.bandwidth, n = rounds(levels[k].ranks);
    if (levels[k].ranks > 1) {
      seconds += m.rounds * n * link.latency;
      // Doubling of the full message, or halving and doubling; a gather brings each rank of a unit its own copy.
      seconds += gathers ? m.received * unit / bandwidth : std::min(n, 2.0) * m.sent / bandwidth;
    }
    unit *= levels[k].ranks;
  }
  return seconds;
}

}  // namespace

StepSeconds seconds_of(const StepCost& cost, double rate, int ranks, const Machine& machine) {
  StepSeconds out;
  out.work = work_of(cost, rate, machine);
  if (ranks == 1) return out;
  const auto levels = machine.filled_by(ranks);
  for (const auto& m : cost.messages) {
    const bool near = m.pattern == StepMessages::Pattern::neighbours;
    const double took = near ? neighbour_seconds(m, machine, levels) : collective_seconds(m, machine, levels);
    (near ? out.neighbours : out.collectives) += took;
    out.hidden += std::min(took, m.behind * out.work);
  }
  return out;
}

}  // namespace cambium
