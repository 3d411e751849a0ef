#include "plugins/kinetic/physics/examine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/base/error.hpp"
#include "core/deck/about_key.hpp"
#include "plugins/kinetic/species/first_state.hpp"

namespace cambium::kinetic {

namespace {

bool has_name(const std::string& text, const std::string& name) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !letter(text[at - 1])) && (end == text.size() || !letter(text[end]))) return true;
  }
  return false;
}

bool uses(const deck::Node& keys, const std::string& name) {
  if (keys.is_scalar()) return has_name(keys.text(), name);
  for (const auto& item : keys.items())
    if (uses(item, name)) return true;
  for (const auto& entry : keys.entries())
    if (!deck::is_note(entry.key) && uses(entry.value, name)) return true;
  return false;
}

/// Three copies of the distribution function.
double bytes_of(const Species& species, Precision precision) {
  const PhaseGrid& grid = species.solver().grid();
  return 3.0 * (precision == Precision::float64 ? 8.0 : 4.0) * species.solver().basis().modes *
         grid.local_conf_cells() * grid.local_velocity_cells();
}

/// Seconds of the projection of f0, which evaluates the formula at every point of every cell, and of a step.
double effort_of(const Species& species) {
  constexpr double seconds_per_point = 2e-7;
  const PhaseGrid& grid = species.solver().grid();
  const int points = species.solver().basis().order + (grid.dimensions() < 4 ? 2 : 1);
  return seconds_per_point * std::pow(points, grid.dimensions()) * grid.local_conf_cells() *
         grid.local_velocity_cells();
}

}  // namespace

void warn_of_unused(const std::map<std::string, std::string>& parameters, Check& check) {
  const deck::Node rest = check.stage().keys.without([](const std::string& key) { return key == "parameters"; });
  for (const auto& [name, value] : parameters)
    if (!uses(rest, name) && std::none_of(parameters.begin(), parameters.end(),
                                          [&, n = name](const auto& other) { return has_name(other.second, n); }))
      check.context().log.warn(fmt::format(
          "parameters: no formula of this stage uses '{}'; remove it, or fix the formula that should", name));
}

void examine(const Vlasov& physics, const CommonParams& params, Check& check) {
  warn_of_unused(params.parameters, check);
  check.require_written_by("start_from", params.start_from, {{Origin::output, "distribution"}, {Origin::physics}});
  for (const auto& s : physics.fluids()) check.memory("fluid species " + s->name(), s->bytes());
  for (std::size_t k = 0; k < physics.species().size(); ++k) {
    const Species& s = *physics.species()[k];
    check.memory("species " + s.name(), bytes_of(s, params.precision));
    check.effort(effort_of(s));
    if (check.stage().tried && params.start_from.empty() && !check.small())
      deck::about_key("", deck::child_path("species", k),
                      [&] { look_at_f0(params.species[k], params.values(), s.solver().grid(), check.context().comm); });
  }
}

}  // namespace cambium::kinetic
