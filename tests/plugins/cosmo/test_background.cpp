// Expansion and growth against closed forms and integrals; the spectrum against its normalisation and its limits.
#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/cosmo/gravity/expansion.hpp"
#include "plugins/cosmo/gravity/linear_power.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::cosmo;

TEST_CASE("a universe of matter alone has closed forms") {
  const Expansion matter(1.0);
  for (const double a : {0.02, 0.3, 1.0}) {
    const Growth g = matter.growth(a);
    CHECK(g.first == Approx(a).epsilon(1e-9));
    CHECK(g.first_rate == Approx(1.0).epsilon(1e-9));
    CHECK(g.second == Approx(-3.0 / 7.0 * a * a).epsilon(1e-9));
    CHECK(g.second_rate == Approx(2.0).epsilon(1e-9));
  }
  // dt/a^2 = a^-3/2 da, dt/a = a^-1/2 da
  CHECK(matter.drift(0.1, 0.4) == Approx(2.0 / std::sqrt(0.1) - 2.0 / std::sqrt(0.4)).epsilon(1e-13));
  CHECK(matter.kick(0.1, 0.4) == Approx(2.0 * std::sqrt(0.4) - 2.0 * std::sqrt(0.1)).epsilon(1e-13));
  CHECK(matter.kick(0.4, 0.1) == Approx(-matter.kick(0.1, 0.4)).epsilon(1e-14));
}

TEST_CASE("linear growth is Heath's integral, growth of second order near its published fit") {
  const Expansion expansion(0.3);
  const auto heath = [&](double a) {  // H integral of da / (a H)^3 (D. Heath, MNRAS 179, 351 (1977))
    const int panels = 20000;
    double sum = 0.0;
    for (int k = 0; k < panels; ++k) {  // in s = a^(5/2), where the integrand is smooth at 0
      const double s = std::pow(a, 2.5) * (k + 0.5) / panels, b = std::pow(s, 0.4);
      sum += std::pow(a, 2.5) / panels * 0.4 * std::pow(b, -1.5) / std::pow(b * expansion.rate(b), 3);
    }
    return expansion.rate(a) * sum;
  };
  for (const double a : {0.05, 0.5, 0.8}) {
    const Growth g = expansion.growth(a);
    CHECK(g.first == Approx(heath(a) / heath(1.0)).epsilon(1e-7));
    const double step = 1e-4,
                 slope = std::log(expansion.growth(a * (1 + step)).first / expansion.growth(a / (1 + step)).first);
    CHECK(g.first_rate == Approx(slope / (2.0 * std::log(1 + step))).epsilon(1e-6));
    const double matter = 0.3 / (a * a * a * expansion.rate(a) * expansion.rate(a));
    CHECK(g.second / (g.first * g.first) == Approx(-3.0 / 7.0 * std::pow(matter, -1.0 / 143.0)).epsilon(1e-2));
    CHECK(g.second_rate == Approx(2.0 * std::pow(matter, 6.0 / 11.0)).epsilon(1e-2));
  }
}

TEST_CASE("the spectrum has its normalisation, its slope at large scales, and falls at small ones") {
  for (const auto transfer :
       {Cosmology::Transfer::eisenstein_hu, Cosmology::Transfer::wiggles, Cosmology::Transfer::bbks}) {
    Cosmology c;
    c.transfer = transfer;
    const LinearPower power(c);
    CHECK(power.deviation(8.0) == Approx(0.834).epsilon(1e-12));
    CHECK(power.transfer(1e-6) == Approx(1.0).epsilon(1e-4));
    CHECK(std::log(power(2e-5) / power(1e-5)) / std::log(2.0) == Approx(c.n_s).epsilon(2e-3));
    CHECK(power(0.0) == 0.0);
    double peak = 0.0, at = 0.0;
    for (double k = 1e-3; k < 1.0; k *= 1.02)
      if (power(k) > peak) peak = power(k), at = k;
    CHECK(at > 0.012);
    CHECK(at < 0.024);
  }
}

// The formulas written a second time, in Python; at k = 0.1 h/Mpc both are known to be near 0.1.
TEST_CASE("the transfer functions are those of the papers") {
  Cosmology c{.omega_m = 0.3, .omega_b = 0.05, .h = 0.7};
  const LinearPower hu(c);
  c.transfer = Cosmology::Transfer::bbks;
  const LinearPower bardeen(c);
  CHECK(hu.transfer(0.01) == Approx(0.786127706875).epsilon(1e-9));
  CHECK(hu.transfer(0.1) == Approx(0.131200229045).epsilon(1e-9));
  CHECK(hu.transfer(1.0) == Approx(0.00455319007884).epsilon(1e-9));
  CHECK(bardeen.transfer(0.01) == Approx(0.76192464035).epsilon(1e-9));
  CHECK(bardeen.transfer(0.1) == Approx(0.137520092806).epsilon(1e-9));
  c.transfer = Cosmology::Transfer::wiggles;
  const LinearPower acoustic(c);
  const std::pair<double, double> known[] = {{1e-4, 0.99990687074}, {0.01, 0.779874015762}, {0.05, 0.267697656542},
                                             {0.1, 0.128607621882}, {0.2, 0.0541042889533}, {1.0, 0.00458786725678}};
  for (const auto& [k, t] : known) CHECK(acoustic.transfer(k) == Approx(t).epsilon(1e-9));
  c.t_cmb = 2.6;
  CHECK(LinearPower(c).transfer(0.1) == Approx(0.142942557487).epsilon(1e-9));
}

TEST_CASE("acoustic oscillations are those of the sound horizon about the smooth spectrum") {
  Cosmology c{.omega_m = 0.3, .omega_b = 0.05, .h = 0.7};
  const LinearPower smooth(c);
  c.transfer = Cosmology::Transfer::wiggles;
  const LinearPower acoustic(c);
  // Crossings of the ratio with its own mean over a period: half periods of pi over 148 Mpc = 103.6 Mpc/h.
  const auto ratio = [&](double k) { return acoustic(k) / smooth(k); };
  std::vector<double> peaks;
  const double step = 1e-4;
  for (double k = 0.05; k < 0.25; k += step)
    if (ratio(k) > ratio(k - step) && ratio(k) > ratio(k + step)) peaks.push_back(k);
  REQUIRE(peaks.size() >= 3);
  const double period = (peaks.back() - peaks.front()) / static_cast<double>(peaks.size() - 1);
  CHECK(period == Approx(2.0 * cambium::constants::pi / 103.6).epsilon(0.03));
}
