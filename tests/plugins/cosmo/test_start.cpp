// The random field has its spectrum; displacements of first and second order against closed forms.
#include <cmath>

#include "plugins/cosmo/gravity/gaussian_field.hpp"
#include "plugins/cosmo/gravity/lagrangian.hpp"
#include "plugins/cosmo/gravity/spectrum.hpp"
#include "plugins/cosmo/gravity/theory.hpp"
#include "tests/plugins/cosmo/cosmo_case.hpp"

using namespace cambium;
using namespace cambium::cosmo;
using namespace cambium::cosmo::test;

namespace {

/// Displacements for a density A cos(k1 x) + B cos(k2 x) with whole mode numbers.
struct TwoWaves {
  int k1[3], k2[3];
  double a, b;
};

}  // namespace

TEST_CASE("the field has the spectrum of the input within the scatter of its modes") {
  const BoxWaves box(64, 1000.0);
  const LinearPower power(Cosmology{});
  const View<double*> waves("waves", box.waves());
  std::vector<double> mean(32, 0.0);
  const auto bins = bins_of(box);
  const auto expected = mean_over_modes(box, [&](double k) { return power(k); });
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    gaussian_field(box, power, seed, waves);
    const auto found = cross_power(box, waves, waves);
    double chi = 0.0;
    for (int b = 0; b < 32; ++b) {
      const double off = (found[b] / expected[b] - 1.0) / std::sqrt(2.0 / bins.modes[b]);
      mean[b] += 0.25 * found[b] / expected[b];
      chi += off * off;
      CHECK(std::abs(off) < 4.5);
    }
    CHECK(chi > 10.0);  // 32 degrees of freedom: 1e-4 on either side
    CHECK(chi < 72.0);
  }
  CHECK(mean[31] == Approx(1.0).margin(0.02));
}

TEST_CASE("one wave: no second order, and the first is minus the gradient of the potential") {
  const int n = 16;
  const double edge = 40.0, k = 2 * pi * 2 / edge;
  const BoxWaves box(n, edge);
  const View<double*> waves("waves", box.waves());
  box.forward(on_mesh(n, [](double, double y, double) { return 0.3 * std::cos(4 * pi * y); }), waves);
  const auto found = displacements(box, waves, 2, 0, box.values());
  const auto first = numbers(found.first), second = numbers(found.second);
  for (int i = 0; i < n * n * n; ++i) {
    const double y = 1.0 * (i / n % n) / n;
    // phi = -0.3 cos(k y) / k^2, psi = -dphi/dy: matter flows towards y = 0
    CHECK(first[3 * i + 1] == Approx(-0.3 / k * std::sin(4 * pi * y)).margin(1e-13));
    CHECK(std::abs(first[3 * i]) + std::abs(first[3 * i + 2]) < 1e-13);
    CHECK(std::abs(second[3 * i]) + std::abs(second[3 * i + 1]) + std::abs(second[3 * i + 2]) < 1e-13);
  }
}

// delta = A cos k1 x + B cos k2 x: the source of second order is
// A B cos(k1 x) cos(k2 x) (1 - (k1 k2)^2 / (k1^2 k2^2)), waves of k1 + k2 and k1 - k2.
TEST_CASE("two crossing waves: displacements of second order in closed form") {
  const int n = 16;
  const double edge = 30.0, unit = 2 * pi / edge;
  const BoxWaves box(n, edge);
  for (const TwoWaves& w : {TwoWaves{{1, 0, 0}, {0, 1, 0}, 0.4, 0.7}, TwoWaves{{2, 1, 0}, {0, 1, -3}, 0.4, -0.2},
                            TwoWaves{{1, 2, 1}, {2, -1, 1}, 0.1, 0.3}}) {
    const auto phase = [](const int* k, double x, double y, double z) {
      return 2 * pi * (k[0] * x + k[1] * y + k[2] * z);
    };
    const View<double*> waves("waves", box.waves());
    box.forward(on_mesh(n,
                        [&](double x, double y, double z) {
                          return w.a * std::cos(phase(w.k1, x, y, z)) + w.b * std::cos(phase(w.k2, x, y, z));
                        }),
                waves);
    const auto found = displacements(box, waves, 2, 0, box.values());
    const auto second = numbers(found.second);
    double s1 = 0.0, s2 = 0.0, dot = 0.0;
    for (int d = 0; d < 3; ++d) {
      s1 += w.k1[d] * w.k1[d];
      s2 += w.k2[d] * w.k2[d];
      dot += w.k1[d] * w.k2[d];
    }
    const double source = w.a * w.b * (1.0 - dot * dot / (s1 * s2));
    double largest = 0.0;
    for (int i = 0; i < n * n * n; ++i) {
      const double x = 1.0 * (i / n / n) / n, y = 1.0 * (i / n % n) / n, z = 1.0 * (i % n) / n;
      for (int d = 0; d < 3; ++d) {
        double exact = 0.0;  // gradient of -source/2 cos(k x)/k^2, of both waves
        for (const int sign : {1, -1}) {
          const int k[3] = {w.k1[0] + sign * w.k2[0], w.k1[1] + sign * w.k2[1], w.k1[2] + sign * w.k2[2]};
          const double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
          exact += 0.5 * source * k[d] / (unit * square) * std::sin(phase(k, x, y, z));
        }
        largest = std::max(largest, std::abs(exact));
        CHECK(second[3 * i + d] == Approx(exact).margin(1e-12));
      }
    }
    CHECK(largest > 1e-2);
  }
}

TEST_CASE("own rows are those of the whole lattice, and momenta follow displacements") {
  const int n = 8;
  const BoxWaves box(n, 100.0);
  const View<double*> waves("waves", box.waves());
  gaussian_field(box, LinearPower(Cosmology{}), 3, waves);
  const auto whole = displacements(box, waves, 2, 0, 512), part = displacements(box, waves, 2, 100, 50);
  const auto all = numbers(whole.second), some = numbers(part.second);
  CHECK(some == std::vector<double>(all.begin() + 300, all.begin() + 450));

  // p = a^2 dx/dt = a^3 H dx/da
  const Expansion expansion(0.3175);
  const double a = 0.3, step = 1e-5;
  std::vector<double> place[3], p;
  for (int k = 0; k < 3; ++k) {
    const double b = a + (k - 1) * step;
    const View<double**> position("x", 512, 3), momentum("p", 512, 3);
    move_to(whole, {expansion.growth(b), b, expansion.rate(b)}, box, 6.25, 0, position, momentum);
    place[k] = numbers(position);
    if (k == 1) p = numbers(momentum);
  }
  double worst = 0.0, most = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    double moved = place[2][i] - place[0][i];
    moved -= 100.0 * std::round(moved / 100.0);
    worst = std::max(worst, std::abs(p[i] - a * a * a * expansion.rate(a) * moved / (2 * step)));
    most = std::max(most, std::abs(p[i]));
  }
  CHECK(worst < 1e-6 * most);
}

TEST_CASE("a start where paths of particles already cross is warned of, and what is advised is none") {
  const Cosmology usual;
  CHECK(problem_of_start(usual, 0.02, 1.0).empty());
  CHECK(problem_of_start(usual, 0.1, 4.0).empty());
  CHECK(problem_of_start(usual, 1.0, 8.0 / std::cbrt(0.75 / pi) * 2.5).empty());  // spheres of 20 Mpc/h
  // Spheres of 8 Mpc/h, today: sigma_8.
  const double spacing = 8.0 / std::cbrt(0.75 / pi);
  CHECK(problem_of_start(usual, 1.0, spacing) ==
        "initial_scale_factor: at scale factor 1 the density around a particle deviates by 0.83 of the mean, and "
        "perturbation theory "
        "places particles well below 0.5; begin at 0.3");
  CHECK(problem_of_start(usual, 0.3, spacing).empty());
  Case late("{box: 64, particles: 8, start: 0.9, time_steps: 1}");
  REQUIRE(late.log().warnings().size() == 1);
  CHECK(late.log().warnings()[0].text == problem_of_start(usual, 0.9, 8.0));
}
