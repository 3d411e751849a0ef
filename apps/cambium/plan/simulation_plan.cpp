#include "apps/cambium/plan/simulation_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

namespace {

std::unique_ptr<Cost> cost_of(const deck::Choice<Physics>& physics, Context& context) {
  const auto names = context.registry->names(Cost::kind);
  if (std::find(names.begin(), names.end(), physics.type) == names.end())
    throw InputError(
        fmt::format("physics '{}' does not report what its steps cost, so that they cannot be planned; `cambium list "
                    "cost` names those that do",
                    physics.type));
  return context.registry->make<Cost>(physics.type, physics.node, context);
}

/// One number of ranks; `alone`: seconds that one rank works on the deck's problem.
PlannedRanks planned(int ranks, const Cost& cost, double alone, const SimulationQuestion& asked,
                     const Machine& machine) {
  PlannedRanks out;
  out.ranks = ranks;
  try {
    out.cost = cost.of(ranks, asked.weak ? ranks : 1.0);
  } catch (const InputError& error) {
    out.refused = error.what();
    return out;
  }
  out.time = seconds_of(out.cost, asked.rate, ranks, machine);
  out.efficiency = alone / (asked.weak ? 1.0 : ranks) / out.time.total();
  out.fits = out.cost.memory <= machine.memory;
  return out;
}

bool even(int ranks, const Machine& machine) {
  try {
    machine.filled_by(ranks);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

SimulationPlan plan_simulation(const Simulate::Params& params, const std::string& deck,
                               const SimulationQuestion& question, const Machine& machine, Context& context) {
  const auto cost = cost_of(params.physics, context);
  SimulationPlan out{deck, params.physics.type, cost->summary(), cost->item(), cost->items(), question, {}, {}};
  const StepCost whole = cost->of(1, 1.0);
  if (question.rate == 0.0 && whole.operations == 0.0 && whole.moved == 0.0)
    throw InputError(
        fmt::format("how long a step computes is not known of this deck ({}); give --rate, the {}-steps/s of one rank "
                    "that the summary of a run on such a device prints",
                    out.summary, out.item));
  const double alone = seconds_of(whole, question.rate, 1, machine).work;
  for (int ranks : question.ranks) {
    machine.filled_by(ranks);  // refuses uneven numbers
    out.plans.push_back(planned(ranks, *cost, alone, question, machine));
  }
  if (std::all_of(out.plans.begin(), out.plans.end(), [](const auto& p) { return !p.refused.empty(); }))
    throw InputError(fmt::format("{} ranks: {}", out.plans.front().ranks, out.plans.front().refused));
  constexpr int most = 1 << 20;
  for (int ranks = 1; !question.weak && ranks <= most; ranks *= 2) {
    if (!even(ranks, machine)) continue;
    out.tried.push_back(planned(ranks, *cost, alone, question, machine));
    if (!out.tried.back().refused.empty()) break;
  }
  return out;
}

}  // namespace cambium
