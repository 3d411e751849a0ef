// Rates and frequencies of made series of the field energy: waves under a ripple, noise, recurrence, and how sure a fit
// is.
#include <cmath>
#include <functional>
#include <random>

#include "plugins/kinetic/physics/growth.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

namespace {

/// The fit to the energy of a field, sampled at steps that vary.
struct Made {
  GrowthFit fit;
  Made(const std::function<double(double)>& field, double end, double step, GrowthParams params) : fit(params) {
    for (double t = 0.0; t < end; t += step * (1.0 + 0.3 * std::sin(3.0 * t))) fit.add(t, 0.5 * std::pow(field(t), 2));
  }
  GrowthFit::Result result() const { return fit.fit(); }
  std::string doubts() const { return fit.doubts(fit.fit()); }
};

constexpr GrowthParams all_peaks{0.0, 1e300, true}, all_samples{0.0, 1e300, false};

}  // namespace

TEST_CASE("a damped or growing wave gives its rate and frequency, and nothing speaks against it") {
  for (const double phase : {0.0, 0.7, 2.0})
    for (const double gamma : {-0.15335947, 0.2}) {
      const Made wave([&](double t) { return std::exp(gamma * t) * std::cos(1.41566184 * t + phase); }, 25.0, 0.05,
                      all_peaks);
      const auto r = wave.result();
      INFO(phase << " " << r.gamma << " " << r.omega);
      CHECK(r.gamma == Approx(gamma).epsilon(1e-4));
      CHECK(r.omega == Approx(1.41566184).epsilon(1e-4));
      CHECK(r.points >= 11);
      CHECK(r.gamma_error < 1e-4);
      CHECK(r.explained > 0.9999);
      CHECK(wave.doubts().empty());
    }
}

TEST_CASE("a fast ripple on a slow wave makes no peaks") {
  // An ion-acoustic wave (mass ratio 1836, k = 0.5, Te/Ti = 3.3 and 10) under an electron plasma oscillation.
  for (const double phase : {0.0, 0.7, 2.0})
    for (const double ripple : {0.02, 0.1, 0.2, 0.4})
      for (const auto& [gamma, omega] : {std::pair{-0.003060, 0.01636}, {-0.000483, 0.0128}}) {
        const auto field = [&, g = gamma, o = omega](double t) {
          return std::exp(g * t) * (std::cos(o * t + phase) + ripple * std::cos(1.1 * t));
        };
        const Made wave(field, 1500.0, 0.1, all_peaks);
        const auto r = wave.result();
        INFO(phase << " " << ripple << " " << r.gamma << " " << r.omega << " " << r.points);
        CHECK(r.omega == Approx(omega).epsilon(0.005));
        CHECK(r.gamma == Approx(gamma).epsilon(0.02));
        CHECK(r.points >= 4);
        CHECK(r.points <= 8);
        CHECK(wave.doubts().empty() == (ripple < 0.3));  // then it is nearly as strong in the energy
      }
}

TEST_CASE("the standard errors are those that noise gives") {
  // Log amplitudes of peaks off by 5 %: over many series, gamma lies within the error as often as it should.
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  double worst = 0.0, mean = 0.0;
  constexpr int series = 40;
  for (int n = 0; n < series; ++n) {
    GrowthFit fit(all_peaks);
    double off[60];
    for (double& x : off) x = std::exp(0.05 * normal(random));
    for (double t = 0.05; t < 40.0; t += 0.05) {
      const int lobe = static_cast<int>(1.4 * t / M_PI);
      fit.add(t, std::pow(off[lobe] * std::exp(-0.1 * t) * std::sin(1.4 * t), 2));
    }
    const auto r = fit.fit();
    const double ratio = (r.gamma + 0.1) / r.gamma_error;
    mean += ratio * ratio / series;
    worst = std::max(worst, std::abs(ratio));
    CHECK(r.residual == Approx(0.05).epsilon(0.7));
  }
  INFO(mean << " " << worst);
  CHECK(mean > 0.4);
  CHECK(mean < 2.5);
  CHECK(worst < 5.0);
}

TEST_CASE("an exponential without oscillation has the error of correlated samples") {
  const Made exact([](double t) { return 1e-4 * std::exp(0.3 * t); }, 40.0, 0.05, all_samples);
  CHECK(exact.result().gamma == Approx(0.3).epsilon(1e-9));
  CHECK(exact.result().gamma_error < 1e-6);
  CHECK(exact.doubts().empty());
  // A transient: the slope of the whole is wrong by more than its error tells only where samples count as independent.
  const Made bent([](double t) { return 1e-4 * std::exp(0.3 * t) * (1.0 + 0.3 * std::sin(0.4 * t)); }, 40.0, 0.05,
                  all_samples);
  const auto r = bent.result();
  CHECK(std::abs(r.gamma - 0.3) < 3.0 * r.gamma_error);
}

TEST_CASE("noise, recurrence and saturation are told") {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const Made white([&](double) { return normal(random); }, 100.0, 0.05, all_peaks);
  CHECK(white.doubts().find("the distance of its peaks scatters by ") != std::string::npos);
  CHECK(white.doubts().find("% of its variance") != std::string::npos);
  CHECK(white.doubts().find("the energy oscillates at another frequency, too, with ") != std::string::npos);

  const Made recurrence(
      [](double t) {
        return (std::exp(-0.15 * t) + 0.5 * std::exp(-std::pow(t - 60.0, 2) / 80.0)) * std::cos(1.416 * t);
      },
      100.0, 0.05, all_peaks);
  CHECK(recurrence.result().omega == Approx(1.416).epsilon(0.02));
  CHECK(recurrence.doubts().find(" in the first half of the window and ") != std::string::npos);
  CHECK(recurrence.doubts().find(
            "growth rate: the window may hold noise, a transient, saturation or a recurrence instead "
            "of one wave: ") == 0);
  CHECK(recurrence.doubts().find(
            "; choose 'start_time' and 'end_time' about the part that is one, and inspect the energy in "
            "thermo.csv") != std::string::npos);

  const Made saturated([](double t) { return 1e-3 / (1e-3 + std::exp(-0.5 * t)); }, 40.0, 0.1, all_samples);
  CHECK(saturated.doubts().find("instead of one exponential: gamma is ") != std::string::npos);

  const Made few([](double t) { return std::exp(-0.1 * t) * std::cos(1.4 * t); }, 6.0, 0.05, all_peaks);
  CHECK(few.doubts().find("it rests on 2 peaks") != std::string::npos);
  CHECK(result_lines(few.fit.results(few.result())).size() == 1);
}

TEST_CASE("a wave that falls below a ripple of another rate is told") {
  const Made wave(
      [](double t) {
        return std::exp(-0.0056 * t) * std::cos(0.0187 * t) + 0.3 * std::exp(-0.002 * t) * std::cos(1.1 * t);
      },
      700.0, 0.1, all_peaks);
  CHECK_FALSE(wave.doubts().empty());
}

TEST_CASE("the last page states rate, frequency and errors by the names that sweeps read") {
  const Made wave([](double t) { return std::exp(-0.1 * t) * std::cos(1.4 * t) * (1.0 + 1e-3 * std::sin(7.0 * t)); },
                  30.0, 0.05, all_peaks);
  const auto results = wave.fit.results(wave.result());
  REQUIRE(results.size() == 4);
  CHECK(results[0].value == wave.result().gamma);
  CHECK(*results[0].uncertainty == wave.result().gamma_error);
  CHECK(*results[1].uncertainty == wave.result().omega_error);
  for (std::size_t k = 0; const char* key : {"gamma", "omega", "residual", "r_squared"}) CHECK(results[k++].key == key);
  const auto lines = result_lines(results);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("growth rate of the field: gamma = -0.1") == 0);
  CHECK(lines[0].find(", omega = 1.4") != std::string::npos);
  CHECK(lines[0].find(" +- ") != std::string::npos);
  CHECK(lines[1].find("fit of the growth rate: residual = ") == 0);
}
