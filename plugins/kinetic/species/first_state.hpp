#pragma once
// Requirements on the distribution function of a fresh start, and at the end of a run.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/parallel/comm.hpp"
#include "plugins/kinetic/deck/params.hpp"
#include "plugins/kinetic/solver/phase_grid.hpp"

namespace cambium::kinetic {

class Species;

/// Statistics of f0 at the points where it was evaluated.
struct Survey {
  double least = 0.0;
  std::vector<double> where;  ///< of the least
  std::int64_t points = 0, negative = 0;
  double sum = 0.0, missing = 0.0;  ///< of |f0|, and of its negative part
  void add(double value, std::span<const double> z);
  void add(const Survey& behind);  ///< the points of another, which come after those of this one
};

/// InputError, on all ranks, when more than a thousandth of f0 is negative; a warning for less, as the tails of a small
/// polynomial perturbation have it.
void require_positive(const Survey& survey, const std::string& species, const PhaseGrid& grid, const Comm& comm,
                      Log& log);

/// For `cambium check`, f0 of a species at a few points of each dimension; InputError where it is not finite, and as
/// require_positive(). Collective.
void look_at_f0(const SpeciesParams& species, const std::map<std::string, double>& parameters, const PhaseGrid& grid,
                const Comm& comm);

/// InputError, on all ranks, where the density of slot 0 is negative or not finite. Collective.
void require_density(const Species& species);

/// InputError when more than a hundredth of slot 0 is in the first or last cell of a velocity dimension; a warning for
/// less. Collective.
void require_extent(const Species& species, Log& log);

/// For the end of a run, a warning where more than a thousandth of slot 0 is in the first or last cell of a velocity
/// dimension: particles have met the end of velocity space. Collective.
void warn_of_extent(const Species& species, Log& log);

}  // namespace cambium::kinetic
