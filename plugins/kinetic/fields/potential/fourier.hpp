#pragma once
#include <complex>
#include <vector>

namespace cambium::kinetic {

/// Discrete Fourier transform of any length, in place: x_k = sum_j x_j exp(sign 2 pi i j k / n), unscaled.
void fourier(std::vector<std::complex<double>>& x, int sign);

}  // namespace cambium::kinetic
