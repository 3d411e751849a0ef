#pragma once
#include "plugins/superres/convection/flow.hpp"
#include "plugins/superres/convection/sweep.hpp"

namespace cambium::superres {

/// One stage of the low-storage Runge-Kutta method with Crank-Nicolson diffusion along z (Rai and Moin 1991; Spalart,
/// Moser and Rogers 1991): x += dt (gamma H + rho H_old - alpha grad p + alpha/2 L (x + x_new)).
struct Stage {
  double gamma, rho, alpha;
  bool kept;  ///< the next stage needs its H
};
constexpr Stage stages[3] = {{8.0 / 15.0, 0.0, 8.0 / 15.0, true},
                             {5.0 / 12.0, -17.0 / 60.0, 2.0 / 15.0, true},
                             {3.0 / 4.0, -5.0 / 12.0, 1.0 / 3.0, false}};

/// Advection in divergence form, which conserves kinetic energy and buoyancy variance exactly on this grid, diffusion
/// along x and y, buoyancy; then the right-hand side of the stage, with the pressure gradient and the full explicit
/// diffusion along z. `tendency` (slots, m+2, columns) holds H of the previous stage and is overwritten by that of this
/// one. Rows first..last-1; each reads the rows on both sides.
void explicit_terms(const Flow& flow, const Stage& stage, double dt, const Fields& tendency, const Fields& rhs,
                    int first, int last);

/// Elimination of the rows of a tridiagonal system along z, in the order of a sweep: step k yields x(k) = (rhs(k) +
/// behind(slot, k) x(k-1)) inverse(slot, k), k = 1..m.
struct Elimination {
  View<double**> inverse, behind;
  Sweep sweep;
};

/// The same on the host, in the order of the sweep, each row eliminated as soon as it is computed. The row before the
/// first one was eliminated by an earlier call, or there is none.
void eliminated_terms(const Flow& flow, const Stage& stage, double dt, const Fields& tendency, const Fields& rhs,
                      int first, int last, const Elimination& elimination);

}  // namespace cambium::superres
