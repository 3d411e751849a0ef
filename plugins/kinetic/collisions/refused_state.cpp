#include "plugins/kinetic/collisions/refused_state.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::kinetic {

std::string place_of_cell(const PhaseGrid& grid, int cell) {
  const auto local = grid.local_conf(cell);
  std::string numbers, where;
  for (int d = 0; d < grid.cdim; ++d) {
    const int place = grid.conf(d).first + local[d];
    numbers += fmt::format("{}{}", d ? ", " : "", place);
    where += fmt::format("{}{} = {:.6g}", d ? ", " : "", "xyz"[d], grid.conf(d).centre(place));
  }
  return fmt::format("[{}] ({})", numbers, where);
}

void refuse_state(const CollidingSpecies& species, double density, double square, const PhaseGrid& grid, int cell) {
  const char* remedy =
      species.limited
          ? "although its positivity is true; give this species more cells of velocity space and of the domain"
          : "which its key positivity: true prevents";
  throw NumericalError(fmt::format(
      "collisions: species '{}' has density {:g} and squared thermal speed {:g} in cell {}, and both must be positive: "
      "its distribution function has become negative there, {}",
      species.name, density, square, place_of_cell(grid, cell), remedy));
}

}  // namespace cambium::kinetic
