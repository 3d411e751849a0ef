#include "plugins/kinetic/physics/external_field.hpp"

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
      for (int d = 0; d < grid.dimensions; ++d) z[d] = grid.lower[d] + (at[d] + 0.5 + 0.5 * rule.xi(q, d)) * grid.width[d];
      values[q] = formula(z);
    }
    rule.project(values.data(), &out[static_cast<std::size_t>(cell) * grid.modes()]);
  }
  return out;
}

ExternalField::ExternalField(const ConfGrid& grid, const FieldFormulas& formulas, const std::map<std::string, double>& parameters)
    : grid_(grid) {
  for (std::size_t c = 0; c < formulas.E.size(); ++c) formula_[c] = Formula(formulas.E[c], conf_variables(grid.dimensions), parameters);
  for (std::size_t c = 0; c < formulas.B.size(); ++c) formula_[3 + c] = Formula(formulas.B[c], conf_variables(grid.dimensions), parameters);
}

bool ExternalField::any() const {
  for (const auto& f : formula_)
    if (!f.empty()) return true;
  return false;
}

const std::vector<double>& ExternalField::at(int c, double time) {
  if (!formula_[c].empty() && time != time_[c]) {
    values_[c] = project_conf(grid_, formula_[c], time);
    time_[c] = time;
  }
  return values_[c];
}

}  // namespace cambium::kinetic
