#pragma once
#include <string>

#include "core/parallel/comm.hpp"
#include "plugins/cosmo/gravity/lagrangian.hpp"
#include "plugins/cosmo/gravity/linear_power.hpp"

namespace cambium::cosmo {

/// Prediction of perturbation theory alone for one field at any moment: linear growth, and particles of a lattice that
/// it displaces.
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

/// Error of a start at scale factor `start` of particles `spacing` Mpc/h apart: the linear density in a sphere as large
/// as one particle's share deviates by so much that perturbation theory no longer holds (paths of particles cross).
/// Empty when it holds.
std::string problem_of_start(const Cosmology& cosmology, double start, double spacing);

/// Rows of this rank where `all` are spread evenly.
inline std::int64_t even_share(std::int64_t all, const Comm& comm) {
  return all * (comm.rank() + 1) / comm.size() - all * comm.rank() / comm.size();
}

}  // namespace cambium::cosmo
