#pragma once
#include <memory>
#include <vector>

#include "core/numerics/fft.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Discrete Fourier transforms of many real rows of one even length n, X_k = sum_j x_j exp(-2 pi i j k / n), k =
/// 0..n/2. Mixed-radix Stockham on packs whose lanes are rows, so that every butterfly is a vector operation (radix 4,
/// 2, 3, 5 and any prime up to 61). Real rows are transformed as complex ones of half the length. On a device whose
/// vendor has a library for it, that does the work (VendorFft).
class RealFft {
 public:
  /// Throws InputError when n is odd, smaller than 2 or has a prime factor above 61.
  explicit RealFft(int n);
  int length() const { return n_; }
  int modes() const { return n_ / 2 + 1; }

  /// Rows 0..rows-1 of `in` from column `first` on; `out` gets the real parts in columns 0..modes-1 and the imaginary
  /// parts from column `imaginary` on.
  void forward(const View<const double**>& in, int first, const View<double**>& out, int imaginary, int rows) const;
  /// The inverse, normalised by n: backward(forward(x)) = x. Imaginary parts of modes 0 and n/2 are taken as zero.
  void backward(const View<const double**>& in, int imaginary, const View<double**>& out, int first, int rows) const;

  /// The same along the first index, for adjacent columns, without a transpose: value i of column c at in[i in_pitch +
  /// c]; real parts of mode k at out[k out_pitch + c], then imaginary ones from row modes() on. Columns in full packs
  /// of width_of<ExecSpace, double>: an incomplete last one is read and written to its end.
  void forward_columns(const double* in, int in_pitch, double* out, int out_pitch, int columns) const;
  /// The inverse, normalised by n.
  void backward_columns(const double* in, int in_pitch, double* out, int out_pitch, int columns) const;

  struct Pass {
    int radix, remaining, stride;  ///< remaining = length of the sub-transforms after this pass
  };
  static constexpr int largest_radix = 61;

 private:
  int n_;
  std::vector<Pass> passes_;
  View<Pass*> device_passes_;
  std::shared_ptr<VendorFft> vendor_;  ///< or null
  View<double*> twiddle_;              ///< exp(-2 pi i k / n) of k = 0..n-1, as pairs
};

}  // namespace cambium
