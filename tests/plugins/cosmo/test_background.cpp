// Expansion and growth against closed forms and integrals; the spectrum against its normalisation and its limits.
#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/cosmo/gravity/expansion.hpp"
#include "plugins/cosmo/gravity/linear_power.hpp"
#include "plugins/cosmo/gravity/mass_fluctuations.hpp"
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

// scipy 1.10, solve_ivp(DOP853, rtol 1e-12) of D'' + (3/a + E'/E) D' = 3/2 omega_m D / (a^5 E^2) in a, from D = a at
// 1e-6, with E^2 = omega_m a^-3 + (1 - omega_m) a^(-3 (1 + w0 + wa)) exp(-3 wa (1 - a)); drift and kick by quad.
TEST_CASE("dark energy of another equation of state expands and grows as its equations say") {
  struct At {
    double a, rate, first, first_rate;
  };
  struct Universe {
    double omega_m, w0, wa;
    At known[3];
    double drift, kick;
  };
  const Universe universes[] = {{0.3,
                                 -0.8,
                                 0.0,
                                 {{0.2, 6.27204667258, 0.2710991581, 0.9739514793},
                                  {0.5, 1.86037673512, 0.6277271261, 0.8163737839},
                                  {0.8, 1.17737901326, 0.8818763012, 0.6181106218}},
                                 6.49392500242,
                                 1.54183083439},
                                {0.3175,
                                 -0.75,
                                 -0.86,
                                 {{0.2, 6.32220132959, 0.2532821859, 0.9961996647},
                                  {0.5, 1.79926679045, 0.6117688749, 0.8768570094},
                                  {0.8, 1.17481345361, 0.8777531224, 0.6438511756}},
                                 6.48280499075,
                                 1.55484495054},
                                {0.3,
                                 -1.2,
                                 0.4,
                                 {{0.2, 6.1809364313, 0.2509275059, 0.9898382368},
                                  {0.5, 1.72693080988, 0.6032771139, 0.8877871046},
                                  {0.8, 1.10248041524, 0.8758795729, 0.6698193769}},
                                 6.65317291523,
                                 1.59911006636}};
  for (const Universe& u : universes) {
    const Expansion expansion(u.omega_m, u.w0, u.wa);
    CHECK(expansion.rate(1.0) == Approx(1.0).epsilon(1e-15));
    for (const At& at : u.known) {
      CHECK(expansion.rate(at.a) == Approx(at.rate).epsilon(1e-11));
      CHECK(expansion.growth(at.a).first == Approx(at.first).epsilon(1e-6));
      CHECK(expansion.growth(at.a).first_rate == Approx(at.first_rate).epsilon(1e-6));
    }
    CHECK(expansion.drift(0.1, 0.6) == Approx(u.drift).epsilon(1e-11));
    CHECK(expansion.kick(0.1, 0.6) == Approx(u.kick).epsilon(1e-11));
  }
}

TEST_CASE("w0 = -1 and wa = 0 are a cosmological constant, bit for bit") {
  const Expansion plain(0.3), given(Cosmology{.omega_m = 0.3, .w0 = -1.0, .wa = 0.0});
  const Expansion nearly(0.3, -1.0 + 1e-12, 0.0);
  for (const double a : {1e-4, 0.02, 0.3, 1.0, 1.7}) {
    CHECK(plain.rate(a) == std::sqrt(0.3 / (a * a * a) + 1.0 - 0.3));
    CHECK(given.rate(a) == plain.rate(a));
    CHECK(given.growth(a).first == plain.growth(a).first);
    CHECK(given.growth(a).second_rate == plain.growth(a).second_rate);
    CHECK(nearly.rate(a) == Approx(plain.rate(a)).epsilon(1e-11));
    CHECK(nearly.growth(a).first == Approx(plain.growth(a).first).epsilon(1e-10));
  }
}

TEST_CASE("equations of state that reach back too far are refused") {
  CHECK(problem_of(Cosmology{.w0 = -0.8, .wa = 0.4}) == "the sum of w0 and wa has to be at most -0.5");
  CHECK(problem_of(Cosmology{.w0 = 0.5}) == "w0 is 0.5, but has to be from -3 to 0");
  CHECK(problem_of(Cosmology{.w0 = -0.75, .wa = -0.86}).empty());
}

// scipy 1.10: quad in ln k of P(k) W(kR)^2 k^3 / (2 pi^2) with Eisenstein's and Hu's transfer function without wiggles,
// omega_m 0.3, omega_b 0.05, h 0.7, n_s 0.9624, sigma_8 0.834; M = 4/3 pi R^3 omega_m 2.77536627e11; brentq for M*.
TEST_CASE("deviations in spheres of a mass are integrals of the spectrum") {
  const Cosmology c{.omega_m = 0.3, .omega_b = 0.05, .h = 0.7};
  const LinearPower power(c);
  CHECK(radius_of_mass(1e14, 0.3) == Approx(6.5941164).epsilon(1e-7));
  const auto table = mass_fluctuations(power, 0.3);
  REQUIRE(table.mass.size() == 29);
  CHECK(table.mass.front() == Approx(1e9));
  CHECK(table.mass.back() == Approx(1e16));
  const std::pair<std::size_t, double> known[] = {
      {4, 3.75022389}, {12, 2.1267577}, {20, 0.947551333}, {24, 0.545277528}};
  for (const auto& [k, sigma] : known) CHECK(table.sigma[k] == Approx(sigma).epsilon(1e-6));
  const auto mass = nonlinear_mass(power, 0.3, 1.0);
  REQUIRE(mass);
  CHECK(*mass == Approx(7.7513574e13).epsilon(1e-5));
  CHECK(*nonlinear_mass(power, 0.3, 0.5) < *mass);
  CHECK_FALSE(nonlinear_mass(power, 0.3, 0.01));
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
