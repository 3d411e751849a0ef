#include "plugins/kinetic/fields/wall_circuit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"

namespace cambium::kinetic {

WallCircuits::WallCircuits(std::vector<WallCircuit> circuits) : circuits_(std::move(circuits)) {
  for (auto& slot : state_) slot.resize(circuits_.size());
}

/// Voltage over the capacitor.
static double over_capacitor(const WallCircuit& circuit, double charge) {
  return circuit.capacitance ? charge / *circuit.capacitance : 0.0;
}

double WallCircuits::current(std::size_t k, int slot, double wall_potential, double time) const {
  const WallCircuit& c = circuits_[k];
  const State& now = state_[slot][k];
  if (c.inductance > 0.0) return now.current;
  return (c.voltage(time) - wall_potential - over_capacitor(c, now.charge)) / c.resistance;
}

void WallCircuits::stage(const Stage& s, std::span<const double> wall_potential, double time) {
  for (std::size_t k = 0; k < circuits_.size(); ++k) {
    const WallCircuit& c = circuits_[k];
    const State before = state_[s.base][k], now = state_[s.in][k];
    const double into = current(k, s.in, wall_potential[k], time);
    State& out = state_[s.out][k];
    out.charge = s.a * before.charge + s.b * now.charge + s.c * into;
    if (c.inductance == 0.0) continue;
    const double left = c.voltage(time) - wall_potential[k] - c.resistance * into - over_capacitor(c, now.charge);
    out.current = s.a * before.current + s.b * now.current + s.c * left / c.inductance;
  }
}

double WallCircuits::frequency(std::size_t k, double elastance) const {
  constexpr double oscillating = 1.7, decaying = 2.5;  // SSP-RK3 is stable up to these products with the step
  const WallCircuit& c = circuits_[k];
  const double stiffness = elastance + (c.capacitance ? 1.0 / *c.capacitance : 0.0);
  if (c.inductance == 0.0) return stiffness / c.resistance / decaying;
  return std::sqrt(stiffness / c.inductance) / oscillating + c.resistance / c.inductance / decaying;
}

void WallCircuits::save(io::Group& group) const {
  if (circuits_.empty()) return;
  std::vector<double> all;
  for (const State& s : state_[0]) all.insert(all.end(), {s.charge, s.current});
  group.write("field/circuits", all);
}

void WallCircuits::load(const io::Group& group) {
  if (circuits_.empty() || !group.exists("field/circuits")) return;
  const auto all = group.read<std::vector<double>>("field/circuits");
  if (all.size() != 2 * circuits_.size())
    throw InputError(fmt::format("'{}' has {} circuits of walls, expected {}; give the same circuits", group.file(),
                                 all.size() / 2, circuits_.size()));
  for (std::size_t k = 0; k < circuits_.size(); ++k) state_[0][k] = {all[2 * k], all[2 * k + 1]};
}

}  // namespace cambium::kinetic
