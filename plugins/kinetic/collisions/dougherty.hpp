#pragma once
#include <array>
#include <vector>

#include "plugins/kinetic/collisions/dougherty_operator.hpp"
#include "plugins/kinetic/collisions/refused_state.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"
#include "plugins/kinetic/solver/solver.hpp"
#include "plugins/kinetic/solver/velocity_cells.hpp"

namespace cambium::kinetic {

/// The collision operator of Lenard and Bernstein (Phys. Rev. 112, 1456 (1958)) and Dougherty (Phys. Fluids 7, 1788
/// (1964)),
///   C[f] = nu d/dv . [ (v - u) f + vt^2 df/dv ],
/// at every Gauss node of configuration space: upwind drift and symmetric interior penalty diffusion along each
/// velocity dimension, without flux through the ends of velocity space. u and vt^2 are not the plain moments but the
/// values that the discrete operator needs to conserve momentum and energy, boundary terms included (as Hakim,
/// Francisquez, Juno and Hammett, J. Plasma Phys. 86, 905860403 (2020), do for their scheme). SSP-RK3 in as many
/// sub-steps as stability requires. Density and momentum are conserved as expansions, energy in every
/// configuration-space cell, all to rounding. Or, in one step of any length, implicitly: ImplicitScheme along one
/// velocity dimension after the other, with the drift and vt^2 that conserve momentum and energy over the step.
class Dougherty {
 public:
  /// `frequency` per cell of this rank's configuration space. Velocity space must not be decomposed over ranks.
  Dougherty(const Solver& solver, const ConfGrid& conf, std::vector<double> frequency, CollidingSpecies species);

  /// Collisions during dt act on slot 0, where it is (Solver::changed is left to the caller). NumericalError where
  /// density or temperature is not positive.
  void act(Solver& solver, double dt);
  /// The same, implicit in velocity.
  void act_implicitly(Solver& solver, double dt);
  void set_frequency(std::vector<double> frequency) { frequency_ = std::move(frequency); }
  /// Approximate number of sub-steps of act() for a species with these moments (Solver's layout, summed over the
  /// column) in this rank's cells: the ends of velocity space are neglected.
  double explicit_steps(const std::vector<double>& moments, double dt) const;

  // For collisions that involve more than one species.
  const DoughertyOperator& op() const { return op_; }
  const CollidingSpecies& species() const { return species_; }
  const Projection& conf_rule() const { return conf_rule_; }
  /// Group and mode of configuration space of each mode.
  const std::vector<std::array<int, 2>>& modes() const { return mode_; }

 private:
  void make_lines();
  void make_matrices();
  template <class T>
  void act_on(Solver& solver, double dt);
  template <class T>
  void act_implicitly_on(Solver& solver, double dt);

  PhaseGrid grid_;
  CollidingSpecies species_;
  std::vector<double> frequency_;
  VelocityCells velocity_cells_;
  Projection conf_rule_;
  std::vector<std::vector<int>> groups_;  ///< velocity exponents
  std::vector<std::array<int, 2>> mode_;
  DoughertyOperator op_;
};

}  // namespace cambium::kinetic
