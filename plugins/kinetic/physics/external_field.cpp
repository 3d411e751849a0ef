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
      formula_[k] = deck::about_key("kinetic.formula", key, [&] {
        return Formula((*list)[c], conf_and_time_variables(grid.dimensions), parameters);
      });
      zero_[k] = is_zero((*list)[c], parameters);
    }
}

namespace {

/// The velocities that component k (0..2 electric, 3..5 magnetic) needs, and the charged species without them.
struct Lack {
  std::string component, why, species;
  std::size_t number = 0;

  Lack(int k, const std::vector<ExternalField::Felt>& by, const char* key) {
    const int c = k % 3, needs = k < 3 ? c + 1 : c == 2 ? 2 : 3;  // velocities, from vx on
    component = fmt::format("{}{}", k < 3 ? 'E' : 'B', "xyz"[c]);
    for (const auto& f : by)
      if (f.vdim < needs) species += fmt::format("{}'{}'", number++ ? ", " : "", f.species);
    why = fmt::format("{}: {} acts on particles with at least {} velocity dimensions, which ", key, component, needs);
  }
  std::string of_some() const {
    return fmt::format("{}{} lack{}: they do not feel it", why, species, number == 1 ? "s" : "");
  }
};

}  // namespace

void ExternalField::require_felt(const std::vector<Felt>& by, Log& log) const {
  for (int k = 0; k < 6; ++k) {
    if (zero_[k] || by.empty()) continue;
    const Lack lack(k, by, "external");
    if (lack.number == by.size())
      throw KeyError("kinetic.external.felt", "external",
                     fmt::format("{}no charged species has ({}); give 'velocity' more dimensions, or {} = 0", lack.why,
                                 lack.species, lack.component));
    if (lack.number > 0) log.warn(lack.of_some());
  }
}

void ExternalField::warn_of_unfelt(const std::vector<Felt>& by, Log& log) const {
  for (int k = 0; k < 6; ++k) {
    if (zero_[k] || by.empty()) continue;
    const Lack lack(k, by, "fields");
    if (lack.number == by.size())
      log.warn(fmt::format("{}no charged species has ({}): none feels it; give 'velocity' more dimensions, or {} = 0",
                           lack.why, lack.species, lack.component));
    else if (lack.number > 0)
      log.warn(lack.of_some());
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
