#include "plugins/kinetic/species/collision_frequency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"

namespace cambium::kinetic {

CollisionFrequency::CollisionFrequency(const std::string& text, const std::string& what, const ConfGrid& conf,
                                       std::vector<std::string> names, const std::map<std::string, double>& parameters)
    : what_(what), conf_(conf) {
  for (auto& name : names) names_.push_back(parameters.count(name) ? "" : std::move(name));  // "": the deck's own
  std::vector<std::string> variables = conf_variables(conf.dimensions);
  try {
    formula_ = Formula(text, variables, parameters);
  } catch (const deck::ExpressionError&) {
    std::copy_if(names_.begin(), names_.end(), std::back_inserter(variables), [](const auto& n) { return !n.empty(); });
    deck::about_key("kinetic.formula", "frequency", [&] { formula_ = Formula(text, variables, parameters); });
    varies_ = true;
    return;
  }
  const ConfGrid whole = conf_.whole();  // so that all ranks find the same mistake
  constant_.resize(conf_.count());
  std::vector<double> at;
  for (int cell = 0; cell < whole.count(); ++cell) {
    place_of(whole, cell, at);
    const double here = formula_(at);
    if (!(here >= 0.0))
      throw KeyError(
          "kinetic.collisions.frequency", "frequency",
          fmt::format("{}: the collision frequency is {:g} at x = {:g}; it cannot be negative", what, here, at[0]));
    if (const int own = conf_.own_index(whole.place(cell)); own >= 0) constant_[own] = here;
  }
}

void CollisionFrequency::place_of(const ConfGrid& grid, int cell, std::vector<double>& at) const {
  at.assign(grid.dimensions, 0.0);
  const auto place = grid.place(cell);
  for (int d = 0; d < grid.dimensions; ++d) at[d] = grid.lower[d] + (place[d] + 0.5) * grid.width[d];
}

std::vector<double> CollisionFrequency::operator()(const std::vector<std::vector<double>>& known) const {
  std::vector<double> out(conf_.count()), at;
  for (int cell = 0; cell < conf_.count(); ++cell) {
    place_of(conf_, cell, at);
    std::string state;
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (!names_[k].empty()) at.push_back(known[k][cell]);
    out[cell] = formula_(at);
    if (out[cell] >= 0.0 && std::isfinite(out[cell])) continue;
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (!names_[k].empty()) state += fmt::format("{}{} = {:g}", state.empty() ? "" : ", ", names_[k], known[k][cell]);
    throw NumericalError(
        fmt::format("collisions: {}: the collision frequency is {:g} at x = {:g}, where {}; fix the formula of "
                    "'frequency', for example by max(0, ...)",
                    what_, out[cell], at[0], state));
  }
  return out;
}

}  // namespace cambium::kinetic
