#pragma once
#include <memory>

#include "plugins/kinetic/deck/fluid_params.hpp"

namespace cambium::kinetic {

/// Moment equations of a fluid at one point. The conserved state q is
///   five moments: rho, rho u, e = p/(gamma - 1) + rho u^2/2,
///   ten moments:  rho, rho u, P_ij + rho u_i u_j for xx, xy, xz, yy, yz, zz,
/// the primitive state w is rho, u, and p or P_ij instead. With a = q/m of a particle their sources are (Hakim, J.
/// Fusion Energy 27, 36 (2008); L. Wang, Hakim, Bhattacharjee and Germaschewski, Phys. Plasmas 22, 012108 (2015))
///   d(rho u)/dt = a (rho E + rho u x B),   de/dt = a rho u . E,
///   dQ_ij/dt = a [rho (u_i E_j + u_j E_i) + eps_ikl Q_kj B_l + eps_jkl Q_ki B_l] - k0 sqrt(p/rho) (P_ij - p delta_ij),
/// with Q_ij = P_ij + rho u_i u_j and p = P_ii/3.
class MomentEquations {
 public:
  static constexpr int most = 10;  ///< components
  struct Fields {
    double electric[3] = {}, magnetic[3] = {};
  };

  virtual ~MomentEquations() = default;
  virtual int components() const = 0;
  virtual void to_primitive(const double* q, double* w) const = 0;
  virtual void to_conserved(const double* w, double* q) const = 0;
  /// True if density and pressures are positive.
  virtual bool physical(const double* w) const = 0;
  /// Flux of q along dimension d.
  virtual void flux(const double* w, int d, double* f) const = 0;
  /// Largest speed of waves along d relative to the fluid.
  virtual double sound_speed(const double* w, int d) const = 0;
  /// rate += sources of q.
  virtual void add_sources(const double* q, double charge_over_mass, const Fields& fields, double* rate) const = 0;
  /// Rate of the closure's relaxation.
  virtual double relaxation(const double* w) const = 0;
  /// True if a component changes its sign in a mirror across dimension d.
  virtual bool odd(int component, int d) const = 0;
  /// Thermal and kinetic energy per volume.
  virtual double energy(const double* q) const = 0;
  /// A third of the trace of the pressure tensor.
  virtual double pressure(const double* w) const = 0;
  /// Energy per particle is this many halves of the temperature.
  virtual double degrees() const = 0;
};

std::unique_ptr<MomentEquations> five_moments(double adiabatic_index);
std::unique_ptr<MomentEquations> ten_moments(double k0);

/// Index of component ij of a symmetric tensor in xx, xy, xz, yy, yz, zz.
inline constexpr int tensor_at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
inline constexpr const char* tensor_names[6] = {"xx", "xy", "xz", "yy", "yz", "zz"};

/// Flux through a face along d between two primitive states: Harten, Lax and van Leer, SIAM Rev. 25, 35 (1983), with
/// the speeds of Davis, SIAM J. Sci. Stat. Comput. 9, 445 (1988).
void hll_flux(const MomentEquations& equations, const double* left, const double* right, int d, double* flux);

/// Difference across a cell, from those to its neighbours.
double limited_slope(FluidParams::Limiter limiter, double below, double above);

}  // namespace cambium::kinetic
