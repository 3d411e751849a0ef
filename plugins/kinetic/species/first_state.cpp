#include "plugins/kinetic/species/first_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

void Survey::add(double value, std::span<const double> z) {
  ++points;
  negative += value < 0.0;
  sum += std::abs(value);
  missing += std::max(0.0, -value);
  if (value < least) {
    least = value;
    where.assign(z.begin(), z.end());
  }
}

void Survey::add(const Survey& behind) {
  points += behind.points;
  negative += behind.negative;
  sum += behind.sum;
  missing += behind.missing;
  if (behind.least < least) {
    least = behind.least;
    where = behind.where;
  }
}

void require_positive(const Survey& survey, const std::string& species, const PhaseGrid& grid, const Comm& comm,
                      Log& log) {
  const double least = comm.min(survey.least), missing = comm.sum(survey.missing) / comm.sum(survey.sum);
  if (!(missing > 1e-9)) return;  // also where f0 is zero everywhere
  const double share = static_cast<double>(comm.sum(survey.negative)) / static_cast<double>(comm.sum(survey.points));
  const auto owns = comm.all_gather(survey.least == least ? 1 : 0);
  const int owner = static_cast<int>(std::find(owns.begin(), owns.end(), 1) - owns.begin());
  std::vector<double> where = survey.where;
  where.resize(grid.dimensions());
  comm.broadcast(where, owner);
  const auto names = phase_variables(grid.cdim, grid.vdim);
  std::string place;
  for (int d = 0; d < grid.dimensions(); ++d) place += fmt::format("{}{} = {:g}", d ? ", " : "", names[d], where[d]);
  const std::string text = fmt::format(
      "species '{}': f0 is negative at {:.2g} % of the points of phase space, down to {:.4g} at {}; change it so that "
      "it is nowhere below 0",
      species, 100.0 * share, least, place);
  if (missing > 1e-3) throw KeyError("kinetic.f0.negative", "f0", text);
  log.warn(text);
}

void look_at_f0(const SpeciesParams& species, const std::map<std::string, double>& parameters, const PhaseGrid& grid,
                const Comm& comm) {
  constexpr int points = 7;
  const auto names = phase_variables(grid.cdim, grid.vdim);
  const Formula f0(species.f0, names, parameters);
  int count = 1;
  for (int d = 0; d < grid.dimensions(); ++d) count *= points;
  Survey survey;
  for (int k = 0; k < count; ++k) {
    std::vector<double> z;
    for (int d = 0, rest = k; d < grid.dimensions(); ++d, rest /= points)
      z.push_back(grid.axis[d].lower + (grid.axis[d].upper - grid.axis[d].lower) * (rest % points + 0.5) / points);
    std::vector<double> all = z;
    if (grid.vdim == 1) all.push_back(z[grid.cdim]);
    const double value = f0(all);
    if (!std::isfinite(value)) {
      std::string place;
      for (int d = 0; d < grid.dimensions(); ++d) place += fmt::format("{}{} = {:g}", d ? ", " : "", names[d], z[d]);
      throw KeyError(
          "kinetic.f0.finite", "f0",
          fmt::format("species '{}': f0 is {} at {}; it must be finite everywhere", species.name, value, place));
    }
    survey.add(value, z);
  }
  Log silent;
  require_positive(survey, species.name, grid, comm, silent);
}

/// Mean of the density in a cell of this rank.
static double density_in(const Species& species, int cell) {
  const auto numbers = static_cast<std::size_t>(species.components()) * species.conf().modes();
  return species.moments(0)[cell * numbers] * std::pow(2.0, -0.5 * species.conf().dimensions);
}

void require_density(const Species& species) {
  const ConfGrid& conf = species.conf();
  const double none = conf.whole_count();
  double first = none, found = 0.0;  // first cell in the global grid, on any rank
  for (int cell = 0; cell < conf.count() && first == none; ++cell) {
    const double density = density_in(species, cell);
    if (!(density >= 0.0 && std::isfinite(density))) {
      first = conf.index(conf.place(cell));
      found = density;
    }
  }
  const double here = first;
  first = species.ranks().all().min(here);
  if (first == none) {
    double largest = 0.0;
    for (int cell = 0; cell < conf.count(); ++cell) largest = std::max(largest, density_in(species, cell));
    if (species.ranks().all().max(largest) > 0.0) return;
    throw KeyError(
        "kinetic.f0.empty", "f0",
        fmt::format("species '{}': f0 is 0 everywhere; give it particles, or leave the species out", species.name()));
  }
  const double density = species.ranks().row().sum(here == first ? found : 0.0);
  const auto at = conf.whole().place(static_cast<int>(first));
  std::string where;
  for (int d = 0; d < conf.dimensions; ++d)
    where += fmt::format("{}{} = {:g}", d ? ", " : "", "xyz"[d], conf.lower[d] + (at[d] + 0.5) * conf.width[d]);
  throw KeyError("kinetic.f0.density", "f0",
                 fmt::format("species '{}': f0 has the density {:g} at {}; it must be positive everywhere",
                             species.name(), density, where));
}

/// Fraction of the density of slot 0 in the first or last cell of a velocity dimension. Collective.
static double edge_share(const Solver& solver, const Comm& comm, int d, bool high) {
  const PhaseGrid& grid = solver.grid();
  const Axis& axis = grid.velocity(d);
  std::vector<double> f(solver.basis().modes);
  double edge = 0.0, all = 0.0;
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      solver.get(0, ic, iv, f.data());
      const double volume = grid.velocity_volume(iv);
      all += volume * f[0];
      if (axis.first + grid.local_velocity(iv)[d] == (high ? axis.cells - 1 : 0)) edge += volume * std::abs(f[0]);
    }
  return comm.sum(edge) / comm.sum(all);
}

void warn_of_extent(const Species& species, Log& log) {
  species.solver().to_host_const(0);
  for (int d = 0; d < species.solver().grid().vdim; ++d)
    for (bool high : {false, true}) {
      const double share = edge_share(species.solver(), species.ranks().all(), d, high);
      if (share <= 1e-3) continue;
      log.warn(fmt::format(
          "species '{}': at the end {:.2g} of the density is in the {} cell of velocity dimension {}: particles have "
          "met the end of velocity space, which lets none through, and moments and fields are no longer right; {} '{}'",
          species.name(), share, high ? "last" : "first", d + 1, high ? "raise" : "lower", high ? "upper" : "lower"));
    }
}

void require_extent(const Species& species, Log& log) {
  for (int d = 0; d < species.solver().grid().vdim; ++d)
    for (bool high : {false, true}) {
      const double share = edge_share(species.solver(), species.ranks().all(), d, high);
      const std::string text = fmt::format(
          "species '{}': {:.2g} of the density is in the {} cell of velocity dimension {}; {} '{}'", species.name(),
          share, high ? "last" : "first", d + 1, high ? "raise" : "lower", high ? "upper" : "lower");
      if (share > 0.01)
        throw KeyError("kinetic.velocity.extent", deck::child_path(high ? "velocity.upper" : "velocity.lower", d),
                       text);
      if (share > 1e-4) log.warn(text);
    }
}

}  // namespace cambium::kinetic
