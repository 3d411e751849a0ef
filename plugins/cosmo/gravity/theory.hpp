#pragma once
#include <string>

#include "core/parallel/comm.hpp"
#include "plugins/cosmo/gravity/lagrangian.hpp"
#include "plugins/cosmo/gravity/linear_power.hpp"

namespace cambium::cosmo {

/// Prediction of perturbation theory for one realisation at any time: linear growth, and a lattice of particles
/// displaced by it.
class Theory {
 public:
  struct Lattice {
    int particles;  ///< along an edge
    double box;     ///< Mpc/h
    double origin;  ///< of the lattice along each axis
    int order;      ///< of the theory: 1 or 2
  };
  Theory(const Cosmology& cosmology, const Lattice& lattice, std::uint64_t seed);

  const Expansion& expansion() const { return expansion_; }
  const LinearPower& power() const { return power_; }
  /// D1(to) / D1(from).
  double linear_growth(double from, double to) const;
  /// Own particles `begin` .. of the lattice at scale factor `a`, as move_to() gives them.
  void place(double a, std::int64_t begin, const View<double**>& position, const View<double**>& momentum) const;
  /// Collective: waves on `mesh` of the density of all particles at `a`.
  View<double*> waves(double a, const BoxWaves& mesh, Clouds clouds, const Comm& comm) const;

 private:
  Expansion expansion_;
  LinearPower power_;
  Lattice lattice_;
  BoxWaves box_;
  std::uint64_t seed_;
};

/// Error message for a start at scale factor `start` of particles `spacing` Mpc/h apart: the linear density in a sphere
/// with the volume of one particle fluctuates so strongly that perturbation theory no longer holds (shell crossing).
/// Empty when it holds.
std::string problem_of_start(const Cosmology& cosmology, double start, double spacing);

/// Number of rows on this rank when `all` are distributed evenly.
inline std::int64_t even_share(std::int64_t all, const Comm& comm) {
  return all * (comm.rank() + 1) / comm.size() - all * comm.rank() / comm.size();
}

}  // namespace cambium::cosmo
