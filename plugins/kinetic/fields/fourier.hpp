#pragma once
#include <complex>
#include <cstddef>
#include <vector>

namespace cambium::kinetic {

/// Discrete Fourier transforms of any length n, unscaled: X_k = sum_j x_j exp(sign 2 pi i j k / n). Batched over
/// interleaved lines: passes by the prime factors of n, from array to array (Stockham 1966), with the innermost loop
/// over lines. The result of a line does not depend on the other lines.
class Fourier {
 public:
  using Complex = std::complex<double>;
  explicit Fourier(int n);

  /// Transforms `lines` lines in place; element j of line l is values[j stride + l].
  void operator()(Complex* values, int lines, std::ptrdiff_t stride, int sign) const;

 private:
  void pass(const Complex* in, Complex* out, int factor, int remaining, std::size_t apart, int sign) const;

  int n_;
  std::vector<int> factors_;
  std::vector<Complex> root_;  ///< exp(2 pi i j / n)
};

}  // namespace cambium::kinetic
