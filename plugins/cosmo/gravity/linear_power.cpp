#include "plugins/cosmo/gravity/linear_power.hpp"

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::cosmo {
namespace {

constexpr double temperature = 2.7255;  // of the background radiation, K (D. Fixsen, ApJ 707, 916 (2009))

double eisenstein_hu(const Cosmology& c, double k) {
  const double matter = c.omega_m * c.h * c.h, baryons = c.omega_b * c.h * c.h;
  const double sound = 44.5 * std::log(9.83 / matter) / std::sqrt(1.0 + 10.0 * std::pow(baryons, 0.75));  // Mpc
  const double alpha = suppression(c);
  const double turn = std::pow(0.43 * k * c.h * sound, 4);
  const double shape = c.omega_m * c.h * (alpha + (1.0 - alpha) / (1.0 + turn));
  const double warm = temperature / 2.7, q = k * warm * warm / shape;
  const double l = std::log(2.0 * std::exp(1.0) + 1.8 * q), curve = 14.2 + 731.0 / (1.0 + 62.5 * q);
  return l / (l + curve * q * q);
}

double bbks(const Cosmology& c, double k) {
  const double shape = c.omega_m * c.h * std::exp(-c.omega_b * (1.0 + std::sqrt(2.0 * c.h) / c.omega_m));
  const double q = k / shape, x = 2.34 * q;
  const double poly = 1.0 + 3.89 * q + std::pow(16.1 * q, 2) + std::pow(5.46 * q, 3) + std::pow(6.71 * q, 4);
  return (x < 1e-6 ? 1.0 : std::log(1.0 + x) / x) * std::pow(poly, -0.25);
}

/// Fourier transform of a sphere of unit volume, y = k R.
double sphere(double y) {
  if (y < 1e-2) return 1.0 - y * y / 10.0;
  return 3.0 * (std::sin(y) - y * std::cos(y)) / (y * y * y);
}

}  // namespace

LinearPower::LinearPower(const Cosmology& cosmology) : cosmology_(cosmology) {
  const double now = deviation(8.0);
  amplitude_ = cosmology.sigma_8 * cosmology.sigma_8 / (now * now);
}

double LinearPower::transfer(double k) const {
  return cosmology_.transfer == Cosmology::Transfer::bbks ? bbks(cosmology_, k) : eisenstein_hu(cosmology_, k);
}

double LinearPower::unscaled(double k) const {
  if (k <= 0.0) return 0.0;
  const double t = transfer(k);
  return std::pow(k, cosmology_.n_s) * t * t;
}

// Simpson's rule in ln k; beyond k R = 300 the sphere leaves less than 1e-7 of the integral.
double LinearPower::deviation(double radius) const {
  const double begin = std::log(1e-6), end = std::log(300.0 / radius);
  const int panels = 20000;
  double sum = 0.0;
  for (int j = 0; j <= panels; ++j) {
    const double k = std::exp(begin + (end - begin) * j / panels), w = sphere(k * radius);
    const double weight = j == 0 || j == panels ? 1.0 : j % 2 ? 4.0 : 2.0;
    sum += weight * k * k * k * (*this)(k)*w * w;
  }
  return std::sqrt(sum * (end - begin) / (3.0 * panels) / (2.0 * constants::pi * constants::pi));
}

std::vector<Citation> LinearPower::citations() const {
  if (cosmology_.transfer == Cosmology::Transfer::bbks)
    return {
        {"bardeen1986",
         R"(@article{bardeen1986, author={Bardeen, J. M. and Bond, J. R. and Kaiser, N. and Szalay, A. S.}, title={The statistics of peaks of Gaussian random fields}, journal={ApJ}, volume={304}, pages={15--61}, year={1986}})"}};
  return {
      {"eisenstein1998",
       R"(@article{eisenstein1998, author={Eisenstein, D. J. and Hu, W.}, title={Baryonic features in the matter transfer function}, journal={ApJ}, volume={496}, pages={605--614}, year={1998}})"}};
}

}  // namespace cambium::cosmo
