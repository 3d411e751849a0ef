#pragma once
#include <array>

#include "core/parallel/comm.hpp"
#include "plugins/cosmo/gravity/box_waves.hpp"
#include "plugins/cosmo/gravity/expansion.hpp"

namespace cambium::cosmo {

/// Collisionless particles of one mass in a periodic, expanding box. Particles are distributed over ranks; the mesh is
/// replicated. With p = a^2 dx/dt, times in 1/H0:
///   dx = p dt/a^2,   dp = -grad phi dt/a,   laplacian phi = 3/2 omega_m delta
/// Drifts and kicks are therefore exact for a given force. Results are bitwise identical on any number of ranks.
class ParticleMesh {
 public:
  /// `mesh` cells along an edge of `box`; `particles` in all. With more cells than particles the influence function is
  /// left out: it amplifies modes near the Nyquist wave number of the mesh. A lattice of particles with two or more
  /// cells each has its own modes there, which then drive the particles (at half of their largest wave number power
  /// grew 3.8 to 4.2 times as much as linear theory, where the exact forces of the lattice give 0.78). The smoothing by
  /// clouds is then below the particle spacing.
  ParticleMesh(int mesh, double box, std::int64_t particles, const Expansion& expansion, Clouds clouds,
               const Comm& comm);

  View<double**> position, momentum, force;  ///< (own particles, 3); force: -grad phi

  void resize(std::int64_t rows);
  void drift(double from, double to);  ///< between two scale factors
  void kick(double from, double to);

  // The force, in three steps.
  void assign();                                       ///< collective: density from the particles
  void solve();                                        ///< its modes, and the forces on the mesh
  void interpolate();                                  ///< forces at own particles
  void forces() { assign(), solve(), interpolate(); }  ///< collective: all three

  const BoxWaves& box() const { return box_; }
  Clouds clouds() const { return clouds_; }
  /// True if there are more cells than particles.
  bool finer_than_particles() const { return box_.values() > particles_; }
  /// Origin of a lattice of particles along each axis: between the mesh points, where a small displacement changes
  /// every weight smoothly. For triangular clouds a quarter of a cell from them: there the error of a lattice of as
  /// many cells equals its mean over all positions, 4e-4 of the force at 1/32 of the cells' wave number.
  double origin() const { return (clouds_ == Clouds::cloud_in_cell ? 0.5 : 0.25) * box_.box() / box_.cells(); }
  std::int64_t particles() const { return particles_; }
  const View<double*>& waves() const { return waves_; }      ///< of the density contrast that solve() used
  const View<std::int64_t*>& mass() const { return mass_; }  ///< as assign_clouds() gives it
  /// Collective: |sum of p| and sum of |p| of all particles, exactly rounded.
  std::array<double, 2> total_momentum() const;

 private:
  BoxWaves box_;
  std::int64_t particles_;
  Expansion expansion_;
  Clouds clouds_;
  const Comm& comm_;
  View<std::int64_t*> mass_;
  View<double*> waves_, potential_, gradient_;
  VectorField field_;
};

}  // namespace cambium::cosmo
