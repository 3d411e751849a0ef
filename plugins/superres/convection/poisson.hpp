#pragma once
#include "core/numerics/real_fft.hpp"
#include "plugins/superres/convection/flow.hpp"
#include "plugins/superres/convection/interfaces.hpp"

namespace cambium::superres {

/// Direct solution of the discrete Poisson equation of the staggered grid with no flux through the plates: Fourier
/// transform along x (of the mirrored row where there are side walls), tridiagonal systems along z. The constant that
/// the equation leaves open is fixed by phi = 0 in mode 0 of the lowest row.
class Poisson {
 public:
  Poisson(const Comm& comm, const Slab& slab);
  /// Right-hand side of row k = 1..m in source(k-1, 0..nx-1).
  View<double**> source;
  /// Collective: the solution's modes; `source` is lost.
  void solve();
  /// Then: rows first..first+count-1 of 1..m of the solution to the interior of these rows of `phi`.
  void rows(const View<double**>& phi, int first, int count);

  // Steps of solve(), for this class: public since nvcc takes no kernel in a private member.
  void mirror() const;
  void eliminate(const Part& part);
  void substitute(const Part& part);

 private:
  void factorise();

  Slab slab_;
  RealFft fft_;
  Sweep sweep_;
  int half_;                      ///< modes, rounded up to packs: where imaginary parts begin
  View<double**> spectrum_;       ///< (m + 2, 2 half)
  View<double**> whole_;          ///< (m + 2, 2 nx) mirrored rows of the result, in a cavity
  View<double**> inverse_;        ///< (m, half): reciprocal pivots; these and what follows in the order of the sweep
  View<double*> behind_, ahead_;  ///< couplings of a row to the one before it and to the next
  View<double**> fill_;           ///< (m, half): what a row, once eliminated, feels of the rank behind
  std::vector<Part> parts_;       ///< of the modes
};

}  // namespace cambium::superres
