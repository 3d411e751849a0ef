#pragma once
#include "plugins/cosmo/gravity/box_waves.hpp"
#include "plugins/cosmo/gravity/expansion.hpp"

namespace cambium::cosmo {

/// Displacements of particles from a cubic lattice by Lagrangian perturbation theory (M. Crocce, S. Pueblas and R.
/// Scoccimarro, MNRAS 373, 369 (2006), eqs. 2 to 6 and D2):
///   x = q + D1 psi1 + D2 psi2,   psi1 = -grad phi1,  laplacian phi1 = delta
///   psi2 = grad phi2,  laplacian phi2 = sum_{i>j} (phi1_ii phi1_jj - phi1_ij^2)
struct Displacements {
  View<double**> first, second;  ///< (own particles, 3), in the unit of the box, for growth 1
};

/// For own particles `begin` .. `begin + rows` - 1 of the lattice (particle (x n + y) n + z) for a linear density of
/// these waves. `order` 1 leaves psi2 zero. Products are taken on the lattice itself.
Displacements displacements(const BoxWaves& box, const View<const double*>& density, int order, std::int64_t begin,
                            std::int64_t rows);

/// Scale factor, growth and expansion rate at one time.
struct Moment {
  Growth growth;
  double a, rate;  ///< H/H0
};
/// Sets positions and momenta a^2 dx/dt (in units of H0) of own particles at the time `at`; the lattice begins at
/// `origin` along each axis. Positions are wrapped into 0 <= x < box.
void move_to(const Displacements& by, const Moment& at, const BoxWaves& box, double origin, std::int64_t begin,
             const View<double**>& position, const View<double**>& momentum);

}  // namespace cambium::cosmo
