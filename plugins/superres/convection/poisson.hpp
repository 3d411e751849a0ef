#pragma once
#include <memory>

#include "core/numerics/real_fft.hpp"
#include "plugins/superres/convection/flow.hpp"
#include "plugins/superres/convection/interfaces.hpp"
#include "plugins/superres/convection/plane_fft.hpp"

namespace cambium::superres {

/// Direct solution of the discrete Poisson equation of the staggered grid with no flux through the plates: Fourier
/// transform along x (of the mirrored row with side walls) and y, tridiagonal systems along z. The undetermined
/// constant is fixed by phi = 0 in mode 0 of the lowest row.
class Poisson {
 public:
  /// `batch`: maximum number of rows for forward() and rows().
  Poisson(const Comm& comm, const Slab& slab, int batch);
  /// Right-hand side of line n of the k-th row of a batch in source(k lines + n, 0..nx-1).
  View<double**> source;
  /// Transforms a batch: rows first..first+count-1 of 1..m; `source` is lost.
  void forward(int first, int count);
  /// Collective, after all rows have been transformed: computes the modes of the solution.
  void solve();
  /// Then: writes rows first..first+count-1 of 1..m of the solution to the interior of these rows of `phi`.
  void rows(const View<double**>& phi, int first, int count);

  /// Bytes sent for ends of slabs so far, in three dimensions.
  std::int64_t bytes_sent() const { return superres::bytes_sent(parts_); }

  // Steps of solve(), for this class: public, because nvcc does not accept kernels in private members.
  void mirror(int rows) const;
  void eliminate(const Part& part);
  void substitute(const Part& part);
  void solve_alone(const Part& part);

 private:
  void factorise();
  int half() const { return plane_fft_ ? plane_fft_->half() : padded(fft_.modes()); }
  /// -(d2/dx2 + d2/dy2) of the discrete mode in column j.
  double squared_wave(int j) const;

  Slab slab_;
  RealFft fft_;
  std::unique_ptr<PlaneFft> plane_fft_;  ///< in three dimensions
  Sweep sweep_;
  int half_;                      ///< columns of modes, in full packs; imaginary parts (along x) begin there
  View<double**> spectrum_;       ///< (m + 2, 2 half)
  View<double**> whole_;          ///< mirrored rows of a batch of the result, in a cavity
  View<double**> inverse_;        ///< (m, half): reciprocal pivots; these and the following in the order of the sweep
  View<double*> behind_, ahead_;  ///< couplings of a row to the one before it and to the next
  View<double**> fill_;           ///< (m, half): response of an eliminated row to the rank behind
  std::vector<Part> parts_;       ///< of the modes
};

}  // namespace cambium::superres
