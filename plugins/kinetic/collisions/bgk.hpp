#pragma once
#include <functional>
#include <vector>

#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// The collision operator nu (f_M - f) of Bhatnagar, Gross and Krook (Phys. Rev. 94, 511 (1954)), with nu constant in
/// each configuration-space cell. f_M is the Maxwellian with the density, mean velocity and temperature of f. Because
/// these do not change while collisions act alone, their sub-step is solved exactly, whatever its length:
///   f(t + dt) = f_M + (f(t) - f_M) exp(-nu dt).
/// The projected Maxwellian is corrected until its density, momentum and energy, as expansions, are those of f, so the
/// sub-step conserves all three to rounding.
class Bgk {
 public:
  Bgk(const Solver& solver, const ConfGrid& conf, std::vector<double> frequency);

  /// All ranks, and those with the same cells of configuration space.
  struct Ranks {
    const Comm &all, &column;
  };
  /// Collisions during dt act on slot 0, whose moments (Solver's layout, summed over the column) are given. Collective.
  /// NumericalError where density or temperature is not positive.
  void act(Solver& solver, double dt, const std::vector<double>& moments, const Ranks& ranks);
  int iterations() const { return iterations_; }  ///< of the last correction

 private:
  void project_maxwellian(const std::vector<double>& moments);
  void velocity_factors(int ic, const std::vector<double>& moments);
  std::vector<double> moments_of_maxwellian(const Comm& column) const;

  PhaseGrid grid_;
  ConfGrid conf_;
  int modes_, components_;
  std::vector<double> frequency_;  ///< per cell of this rank's configuration space
  Projection phase_rule_, conf_rule_;
  int points_;
  std::vector<std::vector<int>> exponents_;
  std::vector<double> maxwellian_;  ///< [local conf cell][local velocity cell][mode]
  std::vector<double> factors_;     ///< [conf node][dimension][cell of it][point]
  std::vector<double> density_;     ///< [conf node]
  int iterations_ = 0, longest_ = 1;
};

}  // namespace cambium::kinetic
