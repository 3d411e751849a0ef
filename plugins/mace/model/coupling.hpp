#pragma once
#include <vector>

namespace cambium::mace {

/// Real Wigner 3j symbols with components in the order and with the signs of e3nn: [m1][m2][m3], the sum of squares is
/// 1. From the Clebsch-Gordan coefficients by Racah's formula and the unitary map between real and complex harmonics.
std::vector<double> wigner_3j(int l1, int l2, int l3);

/// Real spherical harmonics of the direction `n` (length 1) for degrees 0..lmax, and their gradients along the sphere
/// with respect to n. y[l*l + l + m]; the mean of squares over the sphere is 1 ("component"). The polar axis is y, as
/// in e3nn: degree 1 is sqrt(3) (x, y, z). `gradient` may be null; rows of three.
void spherical_harmonics(int lmax, const double n[3], double* y, double (*gradient)[3]);

}  // namespace cambium::mace
