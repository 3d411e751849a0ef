#pragma once
#include "core/numerics/real_fft.hpp"
#include "plugins/superres/convection/flow.hpp"
#include "plugins/superres/convection/interfaces.hpp"

namespace cambium::superres {

/// Direct solution of the discrete Poisson equation of the staggered grid with no flux through the plates: Fourier
/// transform along x (of the mirrored row where there are side walls), tridiagonal systems along z. The constant that the
/// equation leaves open is fixed by phi = 0 in mode 0 of the lowest row.
class Poisson {
 public:
  Poisson(const Comm& comm, const Slab& slab);
  /// Right-hand side of row k = 1..m in source(k-1, 0..nx-1).
  View<double**> source;
  /// Collective: writes the interior of rows 1..m of `phi`, and of rows 0 and m+1 where they are other ranks'; `source` is lost.
  void solve(const View<double**>& phi);

 private:
  void factorise(const Comm& comm);
  void mirror() const;
  void eliminate();
  void substitute();

  Slab slab_;
  RealFft fft_;
  int half_;                  ///< modes, rounded up to packs: where imaginary parts begin
  View<double**> spectrum_;   ///< (m + 2, 2 half)
  View<double**> whole_;      ///< (m + 2, 2 nx) mirrored rows of the result, in a cavity
  View<double**> inverse_;    ///< (m, half): reciprocal pivots
  View<double*> lower_, upper_;  ///< couplings of a row to those below and above it
  View<double**> fill_;       ///< (m, half): what a row, once eliminated, feels of the rank below
  Interfaces interfaces_;
};

}  // namespace cambium::superres
