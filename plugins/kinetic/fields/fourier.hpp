#pragma once
#include <complex>
#include <cstddef>
#include <vector>

namespace cambium::kinetic {

/// Discrete Fourier transforms of any length n, unscaled: X_k = sum_j x_j exp(sign 2 pi i j k / n). Of several lines at
/// once, whose numbers lie beside each other: passes by the prime factors of n, from array to array (Stockham 1966), in
/// which the innermost loop runs over lines. The same numbers for a line whatever lines are beside it.
class Fourier {
 public:
  using Complex = std::complex<double>;
  explicit Fourier(int n);

  /// `lines` lines in place; number j of line l is values[j stride + l].
  void operator()(Complex* values, int lines, std::ptrdiff_t stride, int sign) const;

 private:
  void pass(const Complex* in, Complex* out, int factor, int remaining, std::size_t apart, int sign) const;

  int n_;
  std::vector<int> factors_;
  std::vector<Complex> root_;  ///< exp(2 pi i j / n)
};

}  // namespace cambium::kinetic
