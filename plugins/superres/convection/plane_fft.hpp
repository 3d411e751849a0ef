#pragma once
#include "core/numerics/real_fft.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

/// Real Fourier transforms along x and then y of a plane of cells. The real and the imaginary part of a mode along x
/// are themselves real functions of y and are transformed as such, so that a plane has as many numbers as cells. All
/// four parts of a pair of wave numbers meet the same tridiagonal matrix.
///
/// A transformed plane: real parts along x in the first half, imaginary ones in the second; in a half, for each mode
/// along x, real parts of all modes along y, and imaginary ones from column padded(ny/2 + 1) on.
class PlaneFft {
 public:
  /// Throws InputError where RealFft does.
  PlaneFft(int nx, int ny);
  /// Numbers in half of a transformed plane; a multiple of 16.
  int half() const { return x_.modes() * 2 * half_y_; }
  /// Wave number in periods along x and along y of number j of a half.
  int mode_x(int j) const { return j / (2 * half_y_); }
  int mode_y(int j) const { return j % half_y_ < y_.modes() ? j % half_y_ : y_.modes() - 1; }

  /// Lines 0..ny-1 of `in` from column `first` on to the 2 half() numbers at `out`.
  void forward(const View<const double**>& in, int first, double* out) const;
  /// The inverse: backward(forward(x)) = x.
  void backward(double* in, const View<double**>& out, int first) const;

  // Steps, for this class: public since nvcc takes no kernel in a private member.
  void turn_forward() const;
  void turn_backward() const;

 private:
  RealFft x_, y_;
  int half_x_, half_y_;
  View<double**> lines_, columns_;  ///< modes along x by (y, mode) and by (mode, y)
};

}  // namespace cambium::superres
