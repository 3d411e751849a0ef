#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "plugins/kinetic/collisions/refused_state.hpp"
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
  Bgk(const Solver& solver, const ConfGrid& conf, std::vector<double> frequency, CollidingSpecies species);

  /// All ranks, and those with the same cells of configuration space.
  struct Ranks {
    const Comm &all, &column;
  };
  /// Collisions during dt act on slot 0 where it is, whose moments (Solver's layout, summed over the column) are given
  /// (Solver::changed is left to the caller). Collective. NumericalError where density or temperature is not positive.
  void act(Solver& solver, double dt, const std::vector<double>& moments, const Ranks& ranks);
  void set_frequency(std::vector<double> frequency) { frequency_ = std::move(frequency); }
  int iterations() const { return iterations_; }  ///< of the latest correction

 private:
  /// At the nodes of configuration space: density, mean velocity and squared thermal speed. For the host.
  std::vector<double> states_of(const std::vector<double>& moments) const;
  template <class T>
  void correct(const std::vector<double>& moments, const Ranks& ranks);

  PhaseGrid grid_;
  CollidingSpecies species_;
  ConfGrid conf_;
  int components_;
  std::vector<double> frequency_;  ///< per cell of this rank's configuration space
  Projection conf_rule_;
  struct Maxwellians;
  std::shared_ptr<Maxwellians> maxwellians_;
  int iterations_ = 0;
};

}  // namespace cambium::kinetic
