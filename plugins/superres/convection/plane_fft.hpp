#pragma once
#include <algorithm>

#include "core/numerics/real_fft.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

/// Real Fourier transforms along x and then y of a plane of cells. The real and the imaginary part of a mode along x
/// are themselves real functions of y and are transformed as such, so that a plane has as many values as cells. All
/// four parts of a pair of wave numbers have the same tridiagonal matrix.
///
/// A transformed plane: real parts along x in the first half, imaginary ones in the second; in a half, for each mode
/// along y, real parts of all modes along x, padded to full packs, and then as many rows of imaginary parts. Modes
/// along x are contiguous, so that the transforms along y work on packs of them in place.
///
/// `turned`: transposed, for devices, whose libraries transform rows: for each mode along x, real parts of all modes
/// along y and imaginary ones from column padded(ny/2 + 1) on.
class PlaneFft {
 public:
  /// Throws InputError if RealFft does.
  PlaneFft(int nx, int ny, bool turned = !device_is_host);
  /// Number of values in half of a transformed plane; a multiple of 16.
  int half() const { return half_of(x_.length(), y_.length(), turned_); }
  static int half_of(int nx, int ny, bool turned = !device_is_host) {
    const int x = nx / 2 + 1, y = ny / 2 + 1;
    return turned ? x * 2 * padded(y) : 2 * y * padded(x);
  }
  /// Wave number in periods along x and along y of value j of a half.
  int mode_x(int j) const { return turned_ ? j / (2 * half_y_) : std::min(j % half_x_, x_.modes() - 1); }
  int mode_y(int j) const { return turned_ ? std::min(j % half_y_, y_.modes() - 1) : j / half_x_ % y_.modes(); }

  /// Transforms lines 0..ny-1 of `in` from column `first` on to the 2 half() values at `out`.
  void forward(const View<const double**>& in, int first, double* out) const;
  /// The inverse: backward(forward(x)) = x.
  void backward(double* in, const View<double**>& out, int first) const;

  // Steps, for this class: public, because nvcc does not accept kernels in private members.
  void turn_forward() const;
  void turn_backward() const;

 private:
  RealFft x_, y_;
  bool turned_;
  int half_x_, half_y_;
  View<double**> lines_, columns_;  ///< modes along x by (y, mode) and, if transposed, by (mode, y)
};

}  // namespace cambium::superres
