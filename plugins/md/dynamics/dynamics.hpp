#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/particles/given_axes.hpp"
#include "core/particles/particles.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/md/dynamics/verlet_list.hpp"

namespace cambium::md {

/// Sums over all ranks for the current positions and velocities.
struct Thermodynamics {
  double potential_energy = 0.0;     ///< eV
  double kinetic_energy = 0.0;       ///< eV
  std::array<double, 9> virial{};    ///< eV, W_ab = -sum dE/dr_a r_b
  std::array<double, 9> kinetic{};   ///< eV, sum m v_a v_b
  std::array<double, 9> pressure{};  ///< bar, (kinetic + virial) / V
  double temperature = 0.0;          ///< K
  double mean_pressure() const { return (pressure[0] + pressure[4] + pressure[8]) / 3.0; }
};

/// Particles with their neighbours and potential: the elementary moves of every integrator.
/// Units metal: Å, ps, eV, g/mol, K, bar.
class Dynamics {
 public:
  Dynamics(Particles& particles, Domain& domain, Potential& potential, double skin, Context& context);

  Particles& particles() { return particles_; }
  const Particles& particles() const { return particles_; }
  Context& context() { return context_; }

  /// v += f/m dt for every free atom.
  void kick(double dt);
  /// x += v dt, recording the displacement of atoms since the list was built.
  void drift(double dt);
  /// kick and drift in one pass over memory (first half step of velocity Verlet).
  void kick_and_drift(double kick_dt, double drift_dt);
  /// v = factor v for every free atom.
  void scale_velocities(double factor);
  /// Scales cell and positions by `factor`, velocities by `velocity_factor`.
  void scale_cell(double factor, double velocity_factor);

  /// Updates ghosts and list for the positions, see VerletList. Throws NumericalError that names the atom when a
  /// position is not finite.
  void update_neighbors(std::int64_t step);
  /// Migration, sort, ghosts and list, unconditionally.
  void rebuild() { neighbors_.rebuild(); }
  const VerletList& neighbors() const { return neighbors_; }
  /// Computes the forces at the current positions; with `totals`, also energy and virial of this rank. Throws
  /// NumericalError when a force is not finite (checked when totals are requested and at every rebuild).
  void compute_forces(bool totals, std::int64_t step);

  /// Collective; requires compute_forces(true) for these positions.
  Thermodynamics measure();
  /// Collective: kinetic energy only (thermostats).
  double kinetic_energy();
  /// Throws NumericalError that names the first atom whose force is not finite; writes that frame next to the output.
  void check_forces(std::int64_t step);

  /// Sets the axes in which messages report positions and forces.
  void set_axes(const GivenAxes& axes) { axes_ = axes; }
  /// Atoms in any group of this mask never move.
  void freeze(std::uint32_t mask) { frozen_ = mask; }
  std::uint32_t frozen() const { return frozen_; }
  /// Zeroes the velocity of frozen atoms: no move changes it, and drift() relies on it.
  void stop_frozen();

  /// Degrees of freedom that carry kinetic energy: 3 per free atom, minus 3 when total momentum is conserved.
  double degrees_of_freedom() const { return degrees_of_freedom_; }
  void count_degrees_of_freedom(bool momentum_conserved);

  /// Energy and virial of this rank's atoms at the current positions; null unless requested by compute_forces.
  const ForceOutput* local_totals() const { return totals_ ? &output_ : nullptr; }
  View<const double*> inverse_masses() const { return inverse_mass_; }

 private:
  Particles& particles_;
  Domain& domain_;
  Potential& potential_;
  Context& context_;
  VerletList neighbors_;
  std::uint32_t frozen_ = 0;
  GivenAxes axes_;
  ForceOutput output_;
  bool totals_ = false;  ///< output_ has energy and virial
  View<double*> inverse_mass_;
  double degrees_of_freedom_ = 0.0;
};

}  // namespace cambium::md
