#pragma once
#include <functional>
#include <optional>

#include "core/numerics/real_fft.hpp"
#include "core/parallel/kokkos.hpp"
#include "plugins/cosmo/gravity/clouds.hpp"

namespace cambium::cosmo {

/// Fourier modes of a periodic cube of n x n x n real values. Every axis is transformed as real rows: an axis of n
/// values becomes n + 2, the cosines of modes 0 .. n/2 and then the (negative) sines, so a cube of (n + 2)^3 real
/// values holds products of cosines and sines. A derivative along an axis swaps cosines and sines of that axis only;
/// functions of squared wave numbers are factors. Every rank does all of it, with bitwise identical results.
///
/// Layout: `values` index (x n + y) n + z; `waves` index (y (n + 2) + z) (n + 2) + x.
class BoxWaves {
 public:
  /// n: cells along an edge of length `box`. InputError as RealFft.
  BoxWaves(int n, double box);
  int cells() const { return n_; }
  int columns() const { return n_ + 2; }
  double box() const { return box_; }
  std::int64_t values() const { return std::int64_t{n_} * n_ * n_; }
  std::int64_t waves() const { return std::int64_t{columns()} * columns() * columns(); }

  /// F_k = sum_x f_x exp(-i k x), as cosines and sines.
  void forward(const View<const double*>& values, const View<double*>& waves) const;
  /// f_x = sum_k F_k exp(i k x) / n^3.
  void backward(const View<const double*>& waves, const View<double*>& values) const;

  /// to = d from / d axis (0: x, 1: y, 2: z); modes n/2 of that axis vanish. Not in place.
  void derivative(const View<const double*>& from, int axis, const View<double*>& to) const;
  /// The same by fourth-order central differences over two cells on either side, k (8 sin x - sin 2x) / (6 x) for k
  /// with x = k h: accurate to x^4/30 and falling to 0 towards modes n/2, where k would jump from one sign to the
  /// other. Forces that jump there drive the lattice of particles itself.
  void difference(const View<const double*>& from, int axis, const View<double*>& to) const;
  /// Every wave times -factor/k^2, the mean becomes 0: the solution of laplacian(u) = factor f. With `clouds`, times
  /// the influence function of Hockney and Eastwood (Computer Simulation Using Particles, 1988, eq. 8-22, its first
  /// term), which makes up for what assignment and interpolation smooth away: the product over the axes of
  ///   sinc^4 x / (1 - 2/3 sin^2 x)^2                  cloud in cell,   x = k h / 2
  ///   sinc^6 x / (1 - sin^2 x + 2/15 sin^4 x)^2       triangular cloud
  void inverse_laplacian(const View<double*>& waves, double factor, std::optional<Clouds> clouds = {}) const;
  /// Every wave times a function of |k|, called on the host once for each square of a mode's number.
  void filter(const View<double*>& waves, const std::function<double(double k)>& f) const;

 private:
  void transpose(const double* from, double* to, std::int64_t rows, std::int64_t columns) const;

  int n_;
  double box_;
  RealFft fft_;
  View<double*> work_[2];
};

/// Index of the mode in a column, 0 .. n/2.
KOKKOS_INLINE_FUNCTION int mode_of(int column, int n) { return column <= n / 2 ? column : column - n / 2 - 1; }

}  // namespace cambium::cosmo
