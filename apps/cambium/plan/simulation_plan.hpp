#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/cambium/plan/step_seconds.hpp"
#include "core/run/simulate.hpp"

namespace cambium {

/// A stage `simulate` on one number of ranks.
struct PlannedRanks {
  int ranks = 1;
  std::string refused;  ///< why the problem cannot be divided in this way; the rest is then empty
  StepCost cost;
  StepSeconds time;
  double efficiency = 0.0;  ///< time of the work on one device, over that of all devices here
  bool fits = true;         ///< into a device's memory
};

/// Requested plan.
struct SimulationQuestion {
  std::vector<int> ranks;
  double rate = 0.0;  ///< items per second of one rank; 0: from operations and memory
  bool weak = false;  ///< the deck's problem is that of one rank
};

struct SimulationPlan {
  std::string deck, physics, summary, item;
  double items = 0.0;
  SimulationQuestion asked;
  std::vector<PlannedRanks> plans;
  std::vector<PlannedRanks> tried;  ///< powers of two for which the problem can be divided, without `weak`
};

/// Efficiency from which a number of ranks is called sensible.
constexpr double sensible_efficiency = 0.5;

/// InputError for a physics without costs, a cost that is not known without a rate, and where no number of ranks can be
/// planned.
SimulationPlan plan_simulation(const Simulate::Params& params, const std::string& deck,
                               const SimulationQuestion& question, const Machine& machine, Context& context);

/// Report for the user, and the same as figures in bytes and seconds.
std::vector<std::string> simulation_page(const SimulationPlan& plan, const Machine& machine);
nlohmann::json simulation_figures(const SimulationPlan& plan, const Machine& machine);

}  // namespace cambium
