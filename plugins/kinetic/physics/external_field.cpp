#include "plugins/kinetic/physics/external_field.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "plugins/kinetic/deck/projection.hpp"

namespace cambium::kinetic {

void FieldFormulas::describe(deck::Describe<FieldFormulas>& d) {
  for (auto which : {&FieldFormulas::E, &FieldFormulas::B})
    d(which == &FieldFormulas::E ? "E" : "B", which,
      which == &FieldFormulas::E ? "electric field: formulas for x, y, z components, as many as needed"
                                 : "magnetic field: formulas for x, y, z components, as many as needed")
        .def({});
  d.check([](const FieldFormulas& f) -> std::string {
    return f.E.size() > 3 || f.B.size() > 3 ? "a field has three components" : "";
  });
}

std::vector<double> project_conf(const ConfGrid& grid, const Formula& formula, double time) {
  const Projection rule(grid.exponents, grid.highest() + 3);
  std::vector<double> out(grid.size()), values(rule.nodes()), z(grid.dimensions + 1, time);
  for (int cell = 0; cell < grid.count(); ++cell) {
    const auto at = grid.place(cell);
    for (int q = 0; q < rule.nodes(); ++q) {
      for (int d = 0; d < grid.dimensions; ++d)
        z[d] = grid.lower[d] + (at[d] + 0.5 + 0.5 * rule.xi(q, d)) * grid.width[d];
      values[q] = formula(z);
    }
    rule.project(values.data(), &out[static_cast<std::size_t>(cell) * grid.modes()]);
  }
  return out;
}

/// True if a formula is a constant, and zero.
static bool is_zero(const std::string& text, const std::map<std::string, double>& parameters) {
  try {
    return constant(text, parameters) == 0.0;
  } catch (const deck::ExpressionError&) {
    return false;  // it has variables
  }
}

ExternalField::ExternalField(const ConfGrid& grid, const FieldFormulas& formulas,
                             const std::map<std::string, double>& parameters)
    : grid_(grid) {
  for (const auto* list : {&formulas.E, &formulas.B})
    for (std::size_t c = 0; c < list->size(); ++c) {
      const std::size_t k = c + (list == &formulas.E ? 0 : 3);
      const std::string key = deck::child_path(list == &formulas.E ? "E" : "B", c);
      formula_[k] = deck::about_key("kinetic.formula", key,
                                    [&] { return Formula((*list)[c], conf_variables(grid.dimensions), parameters); });
      zero_[k] = is_zero((*list)[c], parameters);
    }
}

void ExternalField::require_felt(const std::vector<Felt>& by, Log& log) const {
  for (int k = 0; k < 6; ++k) {
    if (zero_[k] || by.empty()) continue;
    const int c = k % 3, needs = k < 3 ? c + 1 : c == 2 ? 2 : 3;  // velocities, from vx on
    const std::string component = fmt::format("{}{}", k < 3 ? 'E' : 'B', "xyz"[c]);
    std::string deaf;
    std::size_t number = 0;
    for (const auto& f : by)
      if (f.vdim < needs) deaf += fmt::format("{}'{}'", number++ ? ", " : "", f.species);
    const std::string why =
        fmt::format("external: {} acts on particles with at least {} velocity dimensions, which ", component, needs);
    if (number == by.size())
      throw KeyError("kinetic.external.felt", "external",
                     fmt::format("{}no charged species has ({}); give 'velocity' more dimensions, or {} = 0", why, deaf,
                                 component));
    if (number > 0) log.warn(fmt::format("{}{} lack{}: they do not feel it", why, deaf, number == 1 ? "s" : ""));
  }
}

const std::vector<double>& ExternalField::at(int c, double time) {
  if (!formula_[c].empty() && time != time_[c]) {
    values_[c] = project_conf(grid_, formula_[c], time);
    time_[c] = time;
  }
  return values_[c];
}

}  // namespace cambium::kinetic
