#include "plugins/cosmo/gravity/linear_power.hpp"

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::cosmo {
namespace {

double eisenstein_hu(const Cosmology& c, double k) {
  const double matter = c.omega_m * c.h * c.h, baryons = c.omega_b * c.h * c.h;
  const double sound = 44.5 * std::log(9.83 / matter) / std::sqrt(1.0 + 10.0 * std::pow(baryons, 0.75));  // Mpc
  const double alpha = suppression(c);
  const double turn = std::pow(0.43 * k * c.h * sound, 4);
  const double shape = c.omega_m * c.h * (alpha + (1.0 - alpha) / (1.0 + turn));
  const double warm = c.t_cmb / 2.7, q = k * warm * warm / shape;
  const double l = std::log(2.0 * std::exp(1.0) + 1.8 * q), curve = 14.2 + 731.0 / (1.0 + 62.5 * q);
  return l / (l + curve * q * q);
}

/// Eqs. 19 and 20 of Eisenstein and Hu: q is k over 13.41 times the wave number that enters the horizon at equality.
double without_baryons(double q, double alpha, double beta) {
  const double l = std::log(std::exp(1.0) + 1.8 * beta * q);
  return l / (l + (14.2 / alpha + 386.0 / (1.0 + 69.9 * std::pow(q, 1.08))) * q * q);
}

/// Their fit with acoustic oscillations, eqs. 2 to 24, in Mpc.
class Wiggles {
 public:
  explicit Wiggles(const Cosmology& c)
      : h_(c.h), m_(c.omega_m * c.h * c.h), b_(c.omega_b * c.h * c.h), share_(c.omega_b / c.omega_m) {
    const double warm = c.t_cmb / 2.7, rest = 1.0 - share_;
    k_equal_ = 7.46e-2 * m_ / (warm * warm);
    const double z_equal = 2.5e4 * m_ / std::pow(warm, 4);
    const double b1 = 0.313 * std::pow(m_, -0.419) * (1.0 + 0.607 * std::pow(m_, 0.674));
    const double z_drag = 1291.0 * std::pow(m_, 0.251) / (1.0 + 0.659 * std::pow(m_, 0.828)) *
                          (1.0 + b1 * std::pow(b_, 0.238 * std::pow(m_, 0.223)));
    const double to_photons = 31.5e3 * b_ / std::pow(warm, 4);  // baryons to photons, times z
    const double drag = to_photons / z_drag, equal = to_photons / z_equal;
    sound_ = 2.0 / (3.0 * k_equal_) * std::sqrt(6.0 / equal) *
             std::log((std::sqrt(1.0 + drag) + std::sqrt(drag + equal)) / (1.0 + std::sqrt(equal)));
    silk_ = 1.6 * std::pow(b_, 0.52) * std::pow(m_, 0.73) * (1.0 + std::pow(10.4 * m_, -0.95));
    alpha_matter_ = std::pow(std::pow(46.9 * m_, 0.670) * (1.0 + std::pow(32.1 * m_, -0.532)), -share_) *
                    std::pow(std::pow(12.0 * m_, 0.424) * (1.0 + std::pow(45.0 * m_, -0.582)), -std::pow(share_, 3));
    beta_matter_ = 1.0 / (1.0 + 0.944 / (1.0 + std::pow(458.0 * m_, -0.708)) *
                                    (std::pow(rest, std::pow(0.395 * m_, -0.0266)) - 1.0));
    const double y = (1.0 + z_equal) / (1.0 + z_drag), root = std::sqrt(1.0 + y);
    const double g = y * (-6.0 * root + (2.0 + 3.0 * y) * std::log((root + 1.0) / (root - 1.0)));
    alpha_baryons_ = 2.07 * k_equal_ * sound_ * std::pow(1.0 + drag, -0.75) * g;
    beta_baryons_ = 0.5 + share_ + (3.0 - 2.0 * share_) * std::sqrt(std::pow(17.2 * m_, 2) + 1.0);
  }

  /// k in h/Mpc.
  double operator()(double k) const {
    const double wave = k * h_, q = wave / (13.41 * k_equal_), ks = wave * sound_;
    if (ks <= 0.0) return 1.0;
    const double f = 1.0 / (1.0 + std::pow(ks / 5.4, 4));
    const double matter =
        f * without_baryons(q, 1.0, beta_matter_) + (1.0 - f) * without_baryons(q, alpha_matter_, beta_matter_);
    const double phase = ks / std::cbrt(1.0 + std::pow(8.41 * std::pow(m_, 0.435) / ks, 3));
    const double wave_of_sound = phase < 1e-3 ? 1.0 - phase * phase / 6.0 : std::sin(phase) / phase;
    const double baryons =
        (without_baryons(q, 1.0, 1.0) / (1.0 + std::pow(ks / 5.2, 2)) +
         alpha_baryons_ / (1.0 + std::pow(beta_baryons_ / ks, 3)) * std::exp(-std::pow(wave / silk_, 1.4))) *
        wave_of_sound;
    return share_ * baryons + (1.0 - share_) * matter;
  }

 private:
  double h_, m_, b_, share_;
  double k_equal_ = 0.0, sound_ = 0.0, silk_ = 0.0;  ///< 1/Mpc, Mpc, 1/Mpc
  double alpha_matter_ = 1.0, beta_matter_ = 1.0, alpha_baryons_ = 0.0, beta_baryons_ = 0.0;
};

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

static std::function<double(double)> transfer_of(const Cosmology& c) {
  switch (c.transfer) {
    case Cosmology::Transfer::bbks:
      return [c](double k) { return bbks(c, k); };
    case Cosmology::Transfer::wiggles:
      return Wiggles(c);
    default:
      return [c](double k) { return eisenstein_hu(c, k); };
  }
}

LinearPower::LinearPower(const Cosmology& cosmology) : cosmology_(cosmology), transfer_(transfer_of(cosmology)) {
  const double now = deviation(8.0);
  amplitude_ = cosmology.sigma_8 * cosmology.sigma_8 / (now * now);
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
