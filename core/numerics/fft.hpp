#pragma once
#include <memory>

#include "core/parallel/kokkos.hpp"

namespace cambium {

/// RealFft's transforms by the device vendor's library (cuFFT with CUDA), in which several threads process one row.
/// Rows pass through internal arrays, because the library interleaves real and imaginary parts.
class VendorFft {
 public:
  virtual ~VendorFft() = default;
  /// See RealFft::forward() and backward(). InternalError when the library refuses.
  virtual void forward(const View<const double**>& in, int first, const View<double**>& out, int imaginary,
                       int rows) = 0;
  virtual void backward(const View<const double**>& in, int imaginary, const View<double**>& out, int first,
                        int rows) = 0;
};

/// For rows of `n` values, n even; null if this build has no such library.
std::unique_ptr<VendorFft> make_vendor_fft(int n);

}  // namespace cambium
