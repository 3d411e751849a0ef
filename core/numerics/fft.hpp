#pragma once
#include <memory>

#include "core/parallel/kokkos.hpp"

namespace cambium {

/// RealFft's transforms by the library of the device's vendor (cuFFT with CUDA), which has threads work on one row
/// together. Rows pass through arrays of its own, because the library wants real and imaginary parts side by side.
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
