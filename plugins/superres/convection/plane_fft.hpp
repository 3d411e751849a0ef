#pragma once
#include <algorithm>

#include "core/numerics/real_fft.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

/// Real Fourier transforms along x and then y of a plane of cells. The real and the imaginary part of a mode along x
/// are themselves real functions of y and are transformed as such, so that a plane has as many numbers as cells. All
/// four parts of a pair of wave numbers meet the same tridiagonal matrix.
///
/// A transformed plane: real parts along x in the first half, imaginary ones in the second; in a half, for each mode
/// along y, real parts of all modes along x, padded to whole packs, and then as many rows of imaginary parts. Modes
/// along x are neighbours, so that the transforms along y work on packs of them as they lie.
///
/// `turned`: the other way round, for devices, whose libraries transform rows: for each mode along x, real parts of all
/// modes along y and imaginary ones from column padded(ny/2 + 1) on.
class PlaneFft {
 public:
  /// Throws InputError where RealFft does.
  PlaneFft(int nx, int ny, bool turned = !device_is_host);
  /// Numbers in half of a transformed plane; a multiple of 16.
  int half() const { return half_of(x_.length(), y_.length(), turned_); }
  static int half_of(int nx, int ny, bool turned = !device_is_host) {
    const int x = nx / 2 + 1, y = ny / 2 + 1;
    return turned ? x * 2 * padded(y) : 2 * y * padded(x);
  }
  /// Wave number in periods along x and along y of number j of a half.
  int mode_x(int j) const { return turned_ ? j / (2 * half_y_) : std::min(j % half_x_, x_.modes() - 1); }
  int mode_y(int j) const { return turned_ ? std::min(j % half_y_, y_.modes() - 1) : j / half_x_ % y_.modes(); }

  /// Lines 0..ny-1 of `in` from column `first` on to the 2 half() numbers at `out`.
  void forward(const View<const double**>& in, int first, double* out) const;
  /// The inverse: backward(forward(x)) = x.
  void backward(double* in, const View<double**>& out, int first) const;

  // Steps, for this class: public since nvcc takes no kernel in a private member.
  void turn_forward() const;
  void turn_backward() const;

 private:
  RealFft x_, y_;
  bool turned_;
  int half_x_, half_y_;
  View<double**> lines_, columns_;  ///< modes along x by (y, mode) and, where they are turned, by (mode, y)
};

}  // namespace cambium::superres
