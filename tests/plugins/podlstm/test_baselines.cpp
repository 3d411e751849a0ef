// Linear forecasts: exact on series that they describe, and the facts of the authors' coefficients.
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/podlstm/forecast/table.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

constexpr WindowShape eight{8, 8};

Stretch stretch(std::int64_t n, double (*value)(double day, int mode)) {
  Stretch s{Matrix(n, 2), {}};
  for (std::int64_t t = 0; t < n; ++t) {
    s.days.push_back(7.0 * static_cast<double>(t));
    for (int k = 0; k < 2; ++k) s.a(t, k) = value(s.days.back(), k);
  }
  return s;
}

double r2_of(std::size_t which, const Stretch& s) {
  auto methods = baselines({1e-9, 1e-9, 3, 4, 365.2425});
  const auto starts = all_starts(window_count(s, eight, "test"));
  methods[which]->fit({s, eight, s.times(), starts});
  return score(targets(s.a, starts, eight), methods[which]->predict(s, starts, eight), 2).r2;
}

}  // namespace

TEST_CASE("each baseline is exact where its model holds", "[baselines]") {
  const auto annual = stretch(120, [](double day, int k) {
    const double w = 2.0 * M_PI * day / 365.2425;
    return 2.0 + std::cos(w + k) + 0.3 * std::sin(3.0 * w);
  });
  const auto wave = stretch(90, [](double day, int k) {
    return std::exp(-0.0005 * day) * std::cos(0.05 * day + k) + (k ? 0.5 * std::sin(0.021 * day) : 0.0);
  });
  CHECK(r2_of(1, annual) == Approx(1.0).margin(1e-6));
  CHECK(r2_of(4, annual) == Approx(1.0).margin(1e-6));
  CHECK(r2_of(2, wave) == Approx(1.0).margin(1e-5));
  CHECK(r2_of(3, wave) == Approx(1.0).margin(1e-5));
  CHECK(r2_of(1, wave) < 0.95);  // not annual
}

TEST_CASE("scores do not depend on the unit of a series", "[baselines]") {
  auto s =
      stretch(120, [](double day, int k) { return std::cos(0.05 * day + k) + 0.4 * std::sin(1.7 * day * (1 + k)); });
  const auto starts = all_starts(window_count(s, eight, "test"));
  const auto of_persistence = [&] {
    return score(targets(s.a, starts, eight), baselines({})[0]->predict(s, starts, eight), 2);
  };
  const Score usual = of_persistence();
  CHECK(usual.r2 < 0.5);
  for (double& x : s.a.a) x *= 1e-6;  // kg/kg in place of mg/kg
  const Score small = of_persistence();
  CHECK(small.r2 == Approx(usual.r2).epsilon(1e-9));
  for (std::size_t h = 0; h < small.by_lead.size(); ++h)
    CHECK(small.by_lead[h] == Approx(usual.by_lead[h]).epsilon(1e-9));
  TableRow row;
  row.name = "persistence";
  row.test = small;
  row.rmse = {3.25e-7, 4.5e-7};
  CHECK(table_text({row}, "kg/kg").back().find("   3.25e-07 4.5e-07") != std::string::npos);
}

TEST_CASE("a gap in a series is told, months of unequal length are none", "[baselines]") {
  Series series;
  for (int t = 0; t < 24; ++t) series.train.days.push_back(30.4 * t + (t % 3));
  CHECK(uneven_times(series).empty());
  for (int t = 0; t < 10; ++t) series.test.days.push_back(3000.0 + 7.0 * t + (t > 4 ? 365.0 : 0.0));
  CHECK(uneven_times(series) ==
        "372 days separate days 3028 and 3400 of the series, 7 as a rule: windows count times and reach across such "
        "gaps; fill the gaps, or forecast stretches without gaps");
}

TEST_CASE("steps that shorten in a series, or from training to test, are told", "[baselines]") {
  Series series;
  for (int t = 0; t < 40; ++t) series.train.days.push_back(7.0 * t);
  for (int t = 0; t < 20; ++t) series.test.days.push_back(276.0 + 7.0 * t);  // three days after the last
  CHECK(uneven_times(series).empty());
  Series daily = series;
  for (int t = 0; t < 20; ++t) daily.test.days[static_cast<std::size_t>(t)] = 274.0 + t;
  CHECK(uneven_times(daily) ==
        "the training years have a time every 7 days, the test years every 1: windows count times, so that the test "
        "years do not test what was fitted; interpolate the series to equal steps (cdo inttime)");
  for (int t = 30; t < 40; ++t) series.train.days[static_cast<std::size_t>(t)] = 203.0 + (t - 29);
  CHECK(uneven_times(series) ==
        "1 days separate days 203 and 204 of the series, 7 as a rule: windows count times, so leads are shorter "
        "there; interpolate the series to equal steps (cdo inttime)");
  Series dekads;  // 1st, 11th and 21st of months of 28 to 31 days
  for (const double first : {0.0, 31.0, 59.0, 90.0, 120.0})
    for (const double day : {0.0, 10.0, 20.0}) dekads.train.days.push_back(first + day);
  CHECK(uneven_times(dekads).empty());
}

TEST_CASE("harmonics + ridge of the last time is that of windows of one time", "[baselines]") {
  const auto s = stretch(120, [](double day, int k) {
    return std::cos(2.0 * M_PI * day / 365.2425 + k) + std::sin(0.05 * day * (1 + k)) + 0.2 * std::sin(0.9 * day + k);
  });
  const auto starts = all_starts(window_count(s, eight, "test"));
  auto later = starts;
  for (auto& start : later) start += eight.past - 1;
  auto methods = baselines({});
  REQUIRE(methods.size() == 6);
  REQUIRE(methods[5]->name() == "harmonics + ridge (last time)");
  BaselineOptions one;
  one.anomaly_ridge = one.last_ridge;
  auto narrow = harmonic_ridge(one);
  methods[4]->fit({s, eight, s.times(), starts});
  methods[5]->fit({s, eight, s.times(), starts});
  narrow->fit({s, {1, 8}, s.times(), later});
  const Matrix a = methods[5]->predict(s, starts, eight), b = narrow->predict(s, later, {1, 8});
  REQUIRE(a.a.size() == b.a.size());
  for (std::size_t k = 0; k < a.a.size(); ++k) REQUIRE(a.a[k] == Approx(b.a[k]).margin(1e-12));
  Stretch earlier = s;  // what lies before the last time of a window does not matter to it
  for (std::int64_t t = 0; t < eight.past - 1; ++t) earlier.a(t, 0) += 5.0;
  CHECK(methods[5]->predict(earlier, {0}, eight).a == methods[5]->predict(s, {0}, eight).a);
  CHECK(methods[4]->predict(earlier, {0}, eight).a != methods[4]->predict(s, {0}, eight).a);
}

TEST_CASE("the score is 1 - SSres / SStot of every output, averaged", "[baselines]") {
  Matrix y(3, 4), p(3, 4);  // two leads of two modes
  y.a = {0, 1, 2, 3, 1, 1, 4, 3, 2, 4, 6, 9};
  p.a = {0, 1, 2, 4, 1, 2, 4, 3, 2, 4, 7, 9};
  const Score s = score(y, p, 2);
  const double r2[] = {1.0, 1.0 - 1.0 / 6.0, 1.0 - 1.0 / 8.0, 1.0 - 1.0 / 24.0};
  CHECK(s.r2 == Approx((r2[0] + r2[1] + r2[2] + r2[3]) / 4.0).epsilon(1e-6));
  CHECK(s.by_mode[1] == Approx((r2[1] + r2[3]) / 2.0).epsilon(1e-6));
  CHECK(s.by_lead[0] == Approx((r2[0] + r2[1]) / 2.0).epsilon(1e-6));
  CHECK(s.variance_weighted == Approx(1.0 - 3.0 / 40.0).epsilon(1e-6));
}

TEST_CASE("a blocked split shares no time", "[baselines]") {
  const Split s = blocked_split(412, 0.2, 15, eight);
  CHECK(s.fit.size() == 314);
  CHECK(s.validation.front() == 329);
  CHECK(s.validation.back() == 411);
  CHECK(s.rows == 329);  // the first time of the first validation window
  const Split r = random_split(412, 0.2, 1, eight);
  CHECK(r.fit.size() == 329);
  CHECK(r.validation.size() == 83);
  std::string said;
  try {
    random_split(4, 1.0, 1, eight);
  } catch (const InputError& error) {
    said = error.what();
  }
  CHECK(said == "validation: a fraction of 1 of 4 windows leaves one side empty");
}

TEST_CASE("folds: every window validates once and shares no time with the fitted ones", "[baselines]") {
  const auto splits = fold_splits(90, 4, 15, eight);
  const auto all = validation_windows(splits);
  CHECK(all == all_starts(90));
  const auto s = stretch(105, [](double day, int k) { return std::sin(0.01 * day) + k; });
  for (const auto& split : splits) {
    const FitData fit{s, eight, split};
    const auto times = fit.times();
    const std::set<std::int64_t> seen(times.begin(), times.end());
    CHECK(seen.size() == fit.seen().days.size());
    for (auto start : split.fit)
      for (std::int64_t t = start; t < start + eight.length(); ++t) CHECK(seen.contains(t));
    for (auto start : split.validation)
      for (std::int64_t t = start; t < start + eight.length(); ++t) CHECK(!seen.contains(t));
  }
  // What lies in the hole is not looked at: the forecast of another block stays as it was when it changes.
  Stretch changed = s;
  for (std::int64_t t = splits[1].hole_first; t < splits[1].hole_last; ++t)
    changed.a(t, 0) += 100.0 + static_cast<double>(t % 3);
  for (auto& method : baselines({})) {
    method->fit({s, eight, splits[1]});
    const Matrix before = method->predict(s, splits[3].validation, eight);
    method->fit({changed, eight, splits[1]});
    CHECK(method->predict(s, splits[3].validation, eight).a == before.a);
  }
}

TEST_CASE("baselines of the authors' coefficients", "[baselines][data]") {
  const std::string path = anchor_file();
  if (path.empty()) return;
  Stage stage;
  SeriesParams p;
  p.file = path;
  p.train = "oisst_weekly_pod/coeff_train";
  p.test = "oisst_weekly_pod/coeff_test";
  p.time = "oisst_weekly_pod/week_center_days_since_1800";
  p.cells = 44219;
  const Series series = read_series(p, stage.comm);
  std::vector<double> test, blocked;
  for (auto& method : baselines({})) {
    const TableRow row = evaluate(*method, series, eight, {});
    test.push_back(row.test.r2);
    blocked.push_back(*row.blocked);
    if (row.name == "ridge") {
      CHECK(*row.paper - *row.blocked > 0.05);  // random validation windows overlap the fitted ones
      CHECK(row.test.by_mode[0] == Approx(0.996).margin(0.002));
      CHECK(row.test.by_mode[3] == Approx(0.876).margin(0.005));
    }
  }
  const double numpy[] = {0.4780260, 0.6570878, 0.8773215, 0.8865800, 0.8973676};  // the same fits by numpy.linalg
  const double facts[] = {0.478, 0.657, 0.878, 0.887, 0.897};
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(test[k] == Approx(facts[k]).margin(0.003));
    CHECK(test[k] == Approx(numpy[k]).margin(2e-6));
  }
  CHECK(test[5] == Approx(0.9082341).margin(2e-6));  // penalty 0.1 of the last week's anomalies, by numpy
  const SplitOptions folds{.folds = 4};
  BaselineOptions chosen;
  chosen.last_ridge = choose_last_ridge({}, series, eight, folds);
  CHECK(chosen.last_ridge == 0.03);
  const TableRow row = evaluate(*last_time_ridge(chosen), series, eight, folds);
  CHECK(*row.blocked == Approx(0.95169).margin(1e-4));
  CHECK(row.test.r2 == Approx(0.90672).margin(1e-4));  // above every network that was found
  CHECK(blocked[2] == Approx(0.872).margin(0.003));
}

TEST_CASE("bad windows", "[messages]") {
  const auto s = stretch(20, [](double day, int k) { return std::sin(day) + k; });
  auto says = [](auto action) {
    try {
      action();
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(says([&] {
          window_count(s, {16, 8}, "training");
        }) ==
        "window: 16 + 8 times do not fit the training series of 20 times; shorten window or horizon, or give a longer "
        "series");
  CHECK(says([&] { blocked_split(20, 0.2, 16, eight); }) ==
        "validation: 20 windows less 4 for validation and a gap of 16 leave none to fit; lower validation or gap, or "
        "give a longer series");
  CHECK(says([&] { fold_splits(20, 2, 15, eight); }) ==
        "folds: 2 blocks of 20 windows with gaps of 15 leave none to fit or none to validate; lower folds or gap, or "
        "give a longer series");
  CHECK(says([&] { blocked_split(0, 0.2, 0, eight); }) ==
        "validation: a fraction of 0.2 of 0 windows leaves the validation block empty; raise it");
}
