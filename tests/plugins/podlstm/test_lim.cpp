// The linear inverse model: a process that it describes exactly, its noise, members and their scores.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/podlstm/forecast/ensemble_members.hpp"
#include "plugins/podlstm/forecast/verification.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

double draw(std::uint64_t id, std::uint64_t step) { return Random4(7, Stream::test, id, step).normal(0); }

/// x(t + 1) = G x(t) + S noise with a rotation of 1 rad in 8 times and two damping times; every mode in its own unit.
constexpr double G[2][2] = {{0.90, 0.20}, {-0.15, 0.85}}, S[2][2] = {{0.3, 0.0}, {0.1, 0.4}}, unit[2] = {5.0, 0.02};

Stretch process(std::int64_t n, double amplitude = 1.0) {
  Stretch s{Matrix(n, 2), {}};
  double x[2] = {1.0, -0.5};
  for (std::int64_t t = 0; t < n; ++t) {
    const double a = amplitude * draw(0, static_cast<std::uint64_t>(t)),
                 b = amplitude * draw(1, static_cast<std::uint64_t>(t));
    const double next[2] = {G[0][0] * x[0] + G[0][1] * x[1] + S[0][0] * a + S[0][1] * b,
                            G[1][0] * x[0] + G[1][1] * x[1] + S[1][0] * a + S[1][1] * b};
    s.days.push_back(7.0 * static_cast<double>(t));
    for (int k = 0; k < 2; ++k)
      s.a(t, k) = unit[k] * (x[k] = next[k]) + unit[k] * 3.0 * std::cos(2.0 * M_PI * s.days.back() / 365.2425);
  }
  return s;
}

FitData whole(const Stretch& s, const WindowShape& shape) {
  return {s, shape, s.times(), all_starts(window_count(s, shape, "training"))};
}

/// A plain second writing of G in the units of a mode's standard deviation.
double expected_propagator(const LinearInverseModel& m, int i, int k, int power) {
  double a[2][2] = {{1.0, 0.0}, {0.0, 1.0}};
  for (int p = 0; p < power; ++p) {
    double b[2][2] = {};
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c)
        for (int j = 0; j < 2; ++j) b[r][c] += G[r][j] * a[j][c];
    std::copy_n(&b[0][0], 4, &a[0][0]);
  }
  return a[i][k] * (m.scale()[static_cast<std::size_t>(k)] / unit[k]) /
         (m.scale()[static_cast<std::size_t>(i)] / unit[i]);
}

}  // namespace

TEST_CASE("a LIM finds the dynamics and the noise of a linear process, from any lag", "[lim]") {
  const auto s = process(60000);
  for (std::int64_t lag : {1, 3}) {
    LinearInverseModel model({.harmonics = 1, .lag = lag, .ridge = 0.0});
    model.fit(whole(s, {4, 4}));
    CHECK(model.removed().empty());
    for (int lead : {1, 2, 5})
      for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k)
          CHECK(model.propagator(lead)(i, k) == Approx(expected_propagator(model, i, k, lead)).margin(0.015));
    // Covariance of the error one time ahead: S S^T in the modes' deviations.
    const Matrix one = model.error_covariance(1.0);
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 2; ++k) {
        const double expected =
            (S[i][0] * S[k][0] + S[i][1] * S[k][1]) * unit[i] * unit[k] /
            (model.scale()[static_cast<std::size_t>(i)] * model.scale()[static_cast<std::size_t>(k)]);
        CHECK(one(i, k) == Approx(expected).margin(0.01));
      }
    // Far ahead the error is all that varies: L C + C L^T + Q = 0.
    const Matrix far = model.error_covariance(500.0), l = model.dynamics();
    for (int i = 0; i < 2; ++i) {
      CHECK(far(i, i) == Approx(1.0).margin(0.02));
      for (int k = 0; k < 2; ++k) {
        double rest = model.noise()(i, k);
        for (int j = 0; j < 2; ++j) rest += l(i, j) * far(j, k) + far(i, j) * l(k, j);
        CHECK(rest == Approx(0.0).margin(1e-10));
      }
    }
  }
}

TEST_CASE("without noise a LIM's forecast is exact, and ridges lead to modes of their own", "[lim]") {
  Stretch s = process(40, 0.0);
  for (std::int64_t t = 0; t < s.times(); ++t)  // from rest the harmonics would fit the decay
    for (int k = 0; k < 2; ++k) s.a(t, k) -= unit[k] * 3.0 * std::cos(2.0 * M_PI * s.days[t] / 365.2425);
  const WindowShape shape{1, 6};
  const auto long_series = process(5000);
  LinearInverseModel strong({.harmonics = 1, .lag = 1, .ridge = 1e9});
  strong.fit(whole(long_series, shape));
  CHECK(std::abs(strong.propagator(1.0)(0, 1)) < 1e-6);
  CHECK(strong.propagator(1.0)(0, 0) > 0.5);
  LinearInverseModel model({.harmonics = 1, .lag = 1, .ridge = 0.0});
  model.fit(whole(long_series, shape));
  const Matrix forecast = model.predict(long_series, {100}, shape), step = model.propagator(1.0);
  double x[2];
  const Matrix year = model.climatology(long_series.days);
  for (int k = 0; k < 2; ++k)
    x[k] = (long_series.a(100, k) - year(100, k)) / model.scale()[static_cast<std::size_t>(k)];
  for (int h = 0; h < 6; ++h) {
    const double next[2] = {step(0, 0) * x[0] + step(0, 1) * x[1], step(1, 0) * x[0] + step(1, 1) * x[1]};
    for (int k = 0; k < 2; ++k) {
      x[k] = next[k];
      CHECK(forecast(0, 2 * h + k) ==
            Approx(year(101 + h, k) + model.scale()[static_cast<std::size_t>(k)] * x[k]).epsilon(1e-9));
    }
  }
}

TEST_CASE("negative eigenvalues of the noise are said and removed, and the trace is kept", "[lim]") {
  // Noise pushes the first mode alone, which pushes the second a time later: white in steps, in continuous time of no
  // kind.
  Stretch s{Matrix(4000, 2), {}};
  double x[2] = {0.0, 0.0};
  for (std::int64_t t = 0; t < s.times(); ++t) {
    s.days.push_back(7.0 * static_cast<double>(t));
    const double second = 0.5 * x[0] + 0.5 * x[1];
    x[0] = 0.9 * x[0] + draw(5, static_cast<std::uint64_t>(t));
    x[1] = second;
    std::copy_n(x, 2, s.a.row(t));
  }
  LinearInverseModel model({.harmonics = 1, .lag = 1, .ridge = 0.0});
  model.fit(whole(s, {2, 2}));
  REQUIRE(!model.removed().empty());
  for (double value : model.removed()) CHECK(value < 0.0);
  CHECK(model.removed_share() > 0.0);
  const Eigen eigen = symmetric_eigen(model.noise());
  CHECK(eigen.values.back() > -1e-12);
  const Matrix l = model.dynamics(), far = model.error_covariance(1e4);
  double sum = 0.0, before = 0.0;  // traces of Q, made and as the fluctuations alone would have it: C(0) has ones
  for (int i = 0; i < 2; ++i) sum += model.noise()(i, i);
  for (double value : model.removed()) before += value;
  CHECK(sum == Approx(-before / model.removed_share()));
  CHECK(far(0, 0) + far(1, 1) == Approx(2.0).epsilon(0.2));
  CHECK(l(0, 0) < 0.0);
  const auto lines = tau_test({.harmonics = 1, .lag = 1, .ridge = 0.0}, whole(s, {2, 2}), 4);
  REQUIRE(lines.size() == 4);
  CHECK(lines.front().negative == model.removed().size());
  CHECK(tau_text(lines, 7.0).size() == 6);
}

TEST_CASE("members scatter as the covariance of the noise says", "[lim]") {
  const auto s = process(20000);
  LinearInverseModel model({.harmonics = 1, .lag = 1, .ridge = 0.0});
  model.fit(whole(s, {1, 3}));
  const auto members = noise_members(model, 40, 500, 3, 3);
  const Matrix deviation = noise_deviation(model, 3);
  for (int h = 0; h < 3; ++h) {
    const Matrix expected = model.error_covariance(h + 1.0);
    double found[3] = {};
    for (const auto& e : members)
      for (std::int64_t w = 0; w < e.rows; ++w) {
        const double a = e(w, 2 * h) / model.scale()[0], b = e(w, 2 * h + 1) / model.scale()[1];
        found[0] += a * a / 20000.0, found[1] += a * b / 20000.0, found[2] += b * b / 20000.0;
      }
    CHECK(found[0] == Approx(expected(0, 0)).epsilon(0.04));
    CHECK(found[1] == Approx(expected(0, 1)).margin(0.02));
    CHECK(found[2] == Approx(expected(1, 1)).epsilon(0.04));
    CHECK(deviation(h, 0) == Approx(model.scale()[0] * std::sqrt(expected(0, 0))));
  }
  // A window has the same members however many windows are made.
  const auto few = noise_members(model, 2, 3, 3, 3);
  for (std::int64_t j = 0; j < few[1].cols; ++j) CHECK(few[1](2, j) == members[1](2, j));
}

TEST_CASE("CRPS of ensembles is that of their distribution in the mean, and exact for a normal one", "[lim]") {
  // The integral of (F(x) - step(x - y))^2, on a fine grid.
  const double mean = 0.3, deviation = 1.7, y = 1.1;
  double integral = 0.0;
  const double dx = 1e-4;
  for (double x = -20.0; x < 20.0; x += dx) {
    const double f = 0.5 * std::erfc(-(x - mean) / (deviation * std::sqrt(2.0))) - (x >= y ? 1.0 : 0.0);
    integral += f * f * dx;
  }
  CHECK(crps_normal(mean, deviation, y) == Approx(integral).margin(2e-4));
  CHECK(crps_normal(2.0, 0.0, 5.0) == 3.0);
  for (std::size_t members : {2, 5, 50}) {
    double sum = 0.0;
    const int draws = 400000 / static_cast<int>(members);
    for (int d = 0; d < draws; ++d) {
      std::vector<double> x;
      for (std::size_t e = 0; e < members; ++e)
        x.push_back(mean + deviation * draw(100 + e, static_cast<std::uint64_t>(d)));
      std::sort(x.begin(), x.end());
      sum += crps_ensemble(x, y) / draws;
    }
    CHECK(sum == Approx(integral).margin(0.015));  // the unfair estimator is 0.48 / members too high
  }
  CHECK(crps_ensemble({1.0, 3.0}, 2.0) == Approx(1.0 - 1.0));
}

TEST_CASE("intervals of few members cover as often as they say", "[lim]") {
  int inside = 0;
  for (std::uint64_t d = 0; d < 20000; ++d) {
    std::vector<double> x;
    for (std::uint64_t e = 0; e < 19; ++e) x.push_back(draw(200 + e, d));
    std::sort(x.begin(), x.end());
    const double y = draw(300, d);
    inside += y >= quantile(x, 0.05) && y <= quantile(x, 0.95);
  }
  CHECK(inside / 20000.0 == Approx(0.9).margin(0.01));
  CHECK(quantile({1.0, 2.0, 4.0}, 0.5) == 2.0);
  CHECK(quantile({1.0, 2.0, 4.0}, 0.01) == 1.0);
}

TEST_CASE("ensembles and normal distributions are verified alike", "[lim]") {
  const std::int64_t windows = 400, members = 200;
  Matrix truth(windows, 4), mean(windows, 4), deviation(2, 2);
  deviation.a = {1.0, 4.0, 2.0, 8.0};
  for (std::int64_t i = 0; i < windows; ++i)
    for (int j = 0; j < 4; ++j) {
      mean(i, j) = std::sin(0.1 * static_cast<double>(i) + j);
      truth(i, j) = mean(i, j) + deviation.a[static_cast<std::size_t>(j)] *
                                     draw(400 + static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(i));
    }
  std::vector<Matrix> ensemble(static_cast<std::size_t>(members), mean);
  for (std::size_t e = 0; e < ensemble.size(); ++e)
    for (std::size_t i = 0; i < truth.a.size(); ++i) ensemble[e].a[i] += deviation.a[i % 4] * draw(500 + e, i);
  const auto normal = verify_normal("normal", truth, mean, deviation, {1.0, 4.0});
  const auto found = verify_ensemble("ensemble", truth, ensemble, {1.0, 4.0});
  for (std::size_t h = 0; h < 2; ++h) {
    CHECK(normal.spread[h] == Approx(h == 0 ? 1.0 : 2.0));
    CHECK(found.spread[h] == Approx(normal.spread[h]).epsilon(0.02));
    CHECK(found.error[h] == Approx(normal.error[h]).epsilon(0.02));
    CHECK(found.crps[h] == Approx(normal.crps[h]).epsilon(0.02));
    CHECK(normal.coverage[h] == Approx(0.9).margin(0.03));
    CHECK(found.coverage[h] == Approx(normal.coverage[h]).margin(0.02));
  }
  const auto text = comparison_text({"modes", "K", {normal, found}, {0.5, 0.25}});
  REQUIRE(text.size() == 4);
  CHECK(text[0] == "CRPS of modes by lead [K]; spread, error and coverage of ensemble");
  CHECK(comparison_csv({{"modes", "K", {normal}, {}}})
            .find("of,forecast,lead,crps,spread,error,coverage_90\nmodes,normal,1,") == 0);
}

TEST_CASE("a mode of noise decays within the lag", "[lim]") {
  for (std::uint64_t id : {20, 21, 22, 23}) {  // autocorrelations of either sign
    Stretch s{Matrix(300, 1), {}};
    for (std::int64_t t = 0; t < s.times(); ++t) {
      s.days.push_back(7.0 * static_cast<double>(t));
      s.a(t, 0) = draw(id, static_cast<std::uint64_t>(t));
    }
    LinearInverseModel model({.harmonics = 1, .lag = 1, .ridge = 0.0});
    model.fit(whole(s, {1, 1}));
    CHECK(model.propagator(1.0)(0, 0) > 0.0);
    CHECK(model.propagator(1.0)(0, 0) < 0.2);
    CHECK(model.error_covariance(1.0)(0, 0) == Approx(1.0).margin(0.1));
  }
}

TEST_CASE("series that give no linear inverse model", "[messages]") {
  auto says = [](const Stretch& s, std::int64_t lag) {
    LinearInverseModel model({.harmonics = 1, .period = 1e6, .lag = lag, .ridge = 0.0});
    try {
      model.fit(whole(s, {1, 1}));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  Stretch flips{Matrix(40, 1), {}}, grows{Matrix(40, 1), {}};
  for (std::int64_t t = 0; t < 40; ++t) {
    flips.days.push_back(static_cast<double>(t)), grows.days.push_back(static_cast<double>(t));
    flips.a(t, 0) = t % 2 ? 1.0 : -1.0;
    grows.a(t, 0) = std::exp(0.2 * static_cast<double>(t));
  }
  CHECK(says(flips, 1) ==
        "lim: the propagator over 1 times has the eigenvalue -0.996, of which there is no real logarithm; give smaller "
        "lags, "
        "or fewer modes");
  CHECK(says(grows, 1) == "no error");  // growth is taken for a decay over the 40 times
  LinearInverseModel slow({.harmonics = 1, .period = 1e6, .lag = 1, .ridge = 0.0});
  slow.fit(whole(grows, {1, 1}));
  CHECK(slow.longest_decay() == Approx(40.0));
  CHECK(says(flips, 39) ==
        "lim: 1 pairs of training times 39 apart are too few for 1 modes; give smaller lags, fewer modes or a longer "
        "series");
}
