// Resampling, statistics and scores on flows that are known, and messages of the simulations.
#include "plugins/superres/evaluate/scores.hpp"
#include "plugins/superres/samples/resampling.hpp"
#include "plugins/superres/tasks/spin_up.hpp"
#include "tests/plugins/superres/convection_case.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

/// Cells that turn: u = sin(k x) cos(pi z) pi, w = -k cos(k x) sin(pi z); amplitude grows with time.
FieldData cells(int nt, int nx, int nz, double k) {
  FieldData data;
  data.names = {"b", "u", "w"};
  data.period = 2.0 * M_PI / k;
  for (int t = 0; t < nt; ++t) data.axis[0].push_back(0.5 * t);
  for (int i = 0; i < nx; ++i) data.axis[1].push_back(data.period * (i + 0.5) / nx);
  for (int j = 0; j < nz; ++j) data.axis[2].push_back((j + 0.5) / nz);
  data.values.resize(3);
  for (double t : data.axis[0])
    for (double x : data.axis[1])
      for (double z : data.axis[2]) {
        const double a = 1.0 + t;
        data.values[0].push_back(a * std::cos(k * x) * std::sin(M_PI * z));
        data.values[1].push_back(a * M_PI * std::sin(k * x) * std::cos(M_PI * z));
        data.values[2].push_back(-a * k * std::cos(k * x) * std::sin(M_PI * z));
      }
  return data;
}

}  // namespace

TEST_CASE("flow statistics of turning cells are those on paper") {
  const double k = M_PI, nu = 0.01;
  const auto s = flow_statistics(cells(1, 64, 64, k), nu, {0, 1, 2}).front();
  const double energy = (M_PI * M_PI + k * k) / 8.0;  // means of sin^2 cos^2 are 1/4
  const double strain = 2.0 * k * k * M_PI * M_PI / 4.0 + 0.5 * std::pow(k * k - M_PI * M_PI, 2) / 4.0;
  CHECK(s.values[0] == Approx(energy).epsilon(1e-3));
  CHECK(s.values[1] == Approx(std::sqrt(energy)).epsilon(1e-3));
  CHECK(s.values[2] == Approx(2.0 * nu * strain).epsilon(1e-3));
  CHECK(s.values[3] == Approx(std::sqrt(8.0 * nu * energy / (2.0 * nu * strain))).epsilon(1e-3));
  CHECK(s.values[7] == Approx(2.0).epsilon(1e-6));  // one mode: its wavelength
  CHECK(s.flux == Approx(-k / 4.0).epsilon(1e-3));
  CHECK(s.divergence < 1e-4);
}

TEST_CASE("linear resampling is exact for linear functions at any ratio") {
  FieldData data;
  data.names = {"f"};
  data.axis[0] = {0, 1, 2.5, 3, 4.5};
  data.axis[1] = {0, 0.5, 1.5, 2, 3, 3.5, 4};
  data.axis[2] = {0, 0.1, 0.4, 0.9, 1.0, 1.2};
  data.values.resize(1);
  for (double t : data.axis[0])
    for (double x : data.axis[1])
      for (double z : data.axis[2]) data.values[0].push_back(1.0 + 2.0 * t - 3.0 * x + 5.0 * z);
  auto back = coarsened(data, {1.7, 2.3, 2.0});
  CHECK(back.axis[0].size() == 3);
  CHECK(back.nx() == 4);  // 6 steps of one point as 3 of two: the nearest to 2.3
  CHECK(back.nz() == 4);  // 5 steps as 3 of 1.67, which is nearer to 2 than 2.5
  for (int axis = 0; axis < 3; ++axis) back = resampled(back, axis, data.axis[axis], 2);
  for (std::size_t n = 0; n < data.values[0].size(); ++n)
    REQUIRE(back.values[0][n] == Approx(data.values[0][n]).margin(1e-12));
}

TEST_CASE("a whole ratio keeps every so many-th frame as it is, both ends included") {
  for (const auto& [frames, ratio, kept] : {std::tuple{21, 4, 6}, {9, 4, 3}, {161, 4, 41}, {9, 2, 5}, {13, 6, 3}}) {
    const auto data = cells(frames, 12, 10, M_PI);
    const auto coarse = coarsened(data, {static_cast<double>(ratio), 3.0, 3.0});
    CAPTURE(frames, ratio);
    REQUIRE(coarse.axis[0].size() == static_cast<std::size_t>(kept));
    REQUIRE(coarse.nz() == 4);  // 9 steps of one point as 3 of three
    for (std::size_t t = 0; t < coarse.axis[0].size(); ++t) {
      const std::size_t from = t * static_cast<std::size_t>(ratio);
      REQUIRE(coarse.axis[0][t] == data.axis[0][from]);
      for (std::size_t x = 0; x < coarse.nx(); ++x)
        for (std::size_t z = 0; z < 4; ++z) REQUIRE(coarse.at(1, t, x, z) == data.at(1, from, 3 * x, 3 * z));
    }
  }
}

TEST_CASE("scores are those of their definitions, and finer samples score better") {
  const auto s = score_of({1.0, 2.0, 3.0}, {1.0, 2.5, 3.0});
  CHECK(s.nmae == Approx(0.5 / 6.0));
  CHECK(s.r2 == Approx(1.0 - 0.25 / 2.0));
  const auto truth = cells(9, 48, 40, M_PI);
  auto error = [&](double ratio, int points) {
    auto rebuilt = coarsened(truth, {2.0, ratio, ratio});
    for (int axis = 0; axis < 3; ++axis) rebuilt = resampled(rebuilt, axis, truth.axis[axis], points);
    return scores_of(truth, rebuilt, 0.01, 10.0, {0, 1, 2});
  };
  const auto coarse = error(8.0, 2), fine = error(4.0, 2), cubic = error(4.0, 4);
  CHECK(fine.relative_l2[1] < 0.5 * coarse.relative_l2[1]);
  CHECK(cubic.relative_l2[1] < 0.5 * fine.relative_l2[1]);
  CHECK(error(1.0, 2).relative_l2[1] < 0.03);  // only time is thinned, and the cells grow linearly with it
  CHECK(coarse.nusselt != Approx(coarse.true_nusselt).epsilon(1e-3));
}

TEST_CASE("a grid too coarse for the Rayleigh number is warned of") {
  Plates run("{rayleigh: 1e9, cells: [32, 16], end_time: 1}");
  REQUIRE(run.context().log.warnings().size() == 1);
  CHECK(run.context().log.warnings()[0].text ==
        "cells of 0.0625 are coarser than pi Kolmogorov lengths (0.00665) of Rayleigh number 1e+09: expect wiggles at "
        "the scale of the grid; take about 304 x 152 cells, or a smaller Rayleigh number");
  Plates fine("{rayleigh: 1e6, cells: [256, 128], end_time: 1}");
  CHECK(fine.context().log.warnings().empty());
}

TEST_CASE("averages that begin after the end are warned of") {
  Plates late("{rayleigh: 1e4, cells: [32, 16], end_time: 10, average_from: 25}");
  REQUIRE(late.context().log.warnings().size() == 1);
  CHECK(late.context().log.warnings()[0].text ==
        "averages begin at 'average_from', 25, and the run ends at 10: its summary will have none");
  Plates early("{rayleigh: 1e4, cells: [32, 16], end_time: 10, average_from: 5}");
  CHECK(early.context().log.warnings().empty());
}

TEST_CASE("grids that cannot be computed on are refused") {
  CHECK_THROWS_WITH(Plates("{rayleigh: 1e4, cells: [31, 16], end_time: 1}"),
                    Catch::Contains("the first of 'cells' must be even, for the transforms along x"));
  CHECK_THROWS_WITH(Plates("{rayleigh: 1e4, cells: [2, 16], end_time: 1}"),
                    Catch::Contains("'cells' must be at least [4, 4]"));
  CHECK_THROWS_WITH(
      Slab::make(Grid::make(8, 6, 1, 1, 0, true), 0, 4),
      "4 ranks cannot share 6 rows of cells: every rank needs two; run on at most 3 ranks or take more cells along z");
}

TEST_CASE("a run is steady from the moment on that its averages stay near the mean") {
  Series series;
  for (int k = 0; k <= 4000; ++k) {
    const double t = 0.01 * k * (1.0 + 0.5 * (k % 2)) / 1.25;  // uneven steps
    if (!series.time.empty() && t <= series.time.back()) continue;
    series.time.push_back(t);
    series.value.push_back(2.0 * (1.0 - std::exp(-t)));
  }
  // The average over a window from t on is 2 - 2 exp(-t) (1 - exp(-window)) / window.
  CHECK(time_mean(series, 20.0, 30.0) == Approx(2.0).epsilon(1e-6));
  CHECK(settled_at(series, 2.0, 4.0, 0.05).value() ==
        Approx(std::log((1.0 - std::exp(-4.0)) / (4.0 * 0.05))).margin(0.03));
  CHECK(settled_at(series, -2.0, 4.0, 0.05) == std::nullopt);
  CHECK(settled_at(series, 2.0, 100.0, 0.05) == std::nullopt);  // longer than the run
  auto leaves = series;
  for (std::size_t k = 0; k < leaves.time.size(); ++k)
    if (leaves.time[k] > 10.0 && leaves.time[k] < 12.0) leaves.value[k] = 4.0;
  CHECK(settled_at(leaves, 2.0, 4.0, 0.05).value() == Approx(12.0).margin(0.3));
}
