// Student's t against integrals, and the statistics of reference convergence points against published ones.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/cambium/suite/reference_points.hpp"
#include "apps/cambium/suite/student.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// The same by Simpson's rule over the density.
double integrated_cdf(double t, double n) {
  const double front = std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2)) / std::sqrt(n * std::acos(-1.0));
  const auto density = [&](double x) { return front * std::pow(1.0 + x * x / n, -(n + 1) / 2); };
  constexpr int steps = 20000;
  const double h = std::abs(t) / steps;
  double sum = density(0.0) + density(t);
  for (int k = 1; k < steps; ++k) sum += density(k * h) * (k % 2 ? 4.0 : 2.0);
  return 0.5 + (t < 0 ? -1.0 : 1.0) * sum * h / 3.0;
}

ReferencePoint point(const std::string& name, std::int64_t batch, std::vector<double> epochs) {
  ReferencePoint out;
  out.name = name;
  out.batch = batch;
  out.epochs = std::move(epochs);
  return out;
}

}  // namespace

TEST_CASE("Student's distribution is the integral of its density") {
  for (const double n : {1.0, 2.0, 3.0, 7.5, 31.0, 400.0})
    for (const double t : {-5.0, -1.7, -0.3, 0.0, 0.01, 0.9, 3.0})
      CHECK(student_cdf(t, n) == Approx(integrated_cdf(t, n)).margin(1e-12));
  CHECK(student_cdf(-1.0, 1.0) == Approx(0.25).epsilon(1e-14));
  CHECK(student_cdf(2.0, 2.0) == Approx(0.5 + 2.0 / (2.0 * std::sqrt(6.0))).epsilon(1e-14));
  CHECK(incomplete_beta(2.0, 3.0, 0.0) == 0.0);
  CHECK(incomplete_beta(2.0, 3.0, 1.0) == 1.0);
  CHECK(incomplete_beta(1.0, 1.0, 0.3) == Approx(0.3).epsilon(1e-14));
}

TEST_CASE("the least acceptable mean is where the t test says one in twenty") {
  const double least = least_acceptable_mean(20.0, 1.0, 18, 10);
  CHECK(least < 20.0);
  const double t = (least - 20.0) / std::sqrt(1.0 / 18 + 1.0 / 8);
  CHECK(student_cdf(t, 24.0) == Approx(0.05).margin(1e-4));
  CHECK(least_acceptable_mean(9.0, 0.0, 8, 5) == 9.0);
}

TEST_CASE("points are pruned before the fastest batch and above the line of their neighbours") {
  const auto points = reference_points({point("c", 400, {29, 30, 30, 31}), point("a", 100, {19, 20, 20, 21}),
                                        point("z", 50, {24, 25, 25, 26}), point("b", 200, {26, 27, 27, 28})},
                                       10);
  REQUIRE(points.size() == 4);
  CHECK(points[0].name == "z");
  CHECK(points[0].pruned);  // slower than the batch of 100
  CHECK_FALSE(points[1].pruned);
  CHECK(points[2].pruned);  // 27 > 20 + 10/3
  CHECK_FALSE(points[3].pruned);
  CHECK(point_at(points, 100, 10)->mean == 20.0);
  const auto between = point_at(points, 200, 10);
  REQUIRE(between);
  CHECK(between->name == "between a and c");
  CHECK(between->mean == Approx(20.0 + 10.0 / 3.0));
  CHECK(between->runs == 20);
  CHECK_FALSE(point_at(points, 50, 10));
  CHECK_FALSE(point_at(points, 500, 10));
}

TEST_CASE("sets of runs are too fast, faster within chance, or neither") {
  ReferencePoint reference;
  reference.mean = 20.0;
  reference.least_mean = 19.2;
  CHECK(compare_convergence({5, 19, 19, 19, 40}, reference).too_fast);
  const auto faster = compare_convergence({1, 19.5, 19.5, 90}, reference);
  CHECK_FALSE(faster.too_fast);
  CHECK(faster.time_factor == Approx(20.0 / 19.5));
  CHECK(compare_convergence({1, 21, 21, 90}, reference).time_factor == 1.0);
  CHECK(olympic_mean({3.0, 1.0, 2.0}) == 2.0);
  CHECK(olympic_mean({3.0, 1.0}) == 2.0);
}

TEST_CASE("files that hold no reference points are refused") {
  const Scratch scratch("points");
  std::ofstream(scratch.file("a.json")) << R"({"x": {"BS": 32, "Epochs to converge": [1, 2]}})";
  CHECK(message([&] { read_reference_points(scratch.file("a.json"), 10); }) ==
        "'" + scratch.file("a.json") +
            "' holds no reference points: each has a batch size \"BS\" and at least three \"Epochs to converge\"");
  CHECK(message([&] { read_reference_points("/nowhere.json", 10); }) ==
        "cannot read the reference points '/nowhere.json'; give a file rcps_BENCHMARK.json");
}

TEST_CASE("the published points are reproduced", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  const std::string folder = data ? std::string(data) + "/mlperf" : "";
  if (folder.empty() || !std::filesystem::exists(folder + "/rcp_expected.json")) {
    std::printf("SKIPPED: reference convergence points: CAMBIUM_DATA names no folder with mlperf/rcp_expected.json\n");
    return;
  }
  const auto expected = nlohmann::json::parse(std::ifstream(folder + "/rcp_expected.json"));
  int compared = 0;
  for (const auto& [benchmark, list] : expected.items()) {
    const int runs = benchmark == "cosmoflow" || benchmark == "openfold" ? 10 : 5;
    for (const auto& p : read_reference_points(folder + "/rcps_" + benchmark + ".json", runs))
      for (const auto& e : list)
        if (e["name"] == p.name) {
          INFO(p.name);
          CHECK(p.mean == Approx(e["mean"].get<double>()).epsilon(1e-12));
          CHECK(p.deviation == Approx(e["sd"].get<double>()).margin(1e-12));
          CHECK(p.least_mean == Approx(e["least_mean"].get<double>()).epsilon(1e-9));
          CHECK(p.pruned == e["pruned"].get<bool>());
          ++compared;
        }
  }
  CHECK(compared == 15);
}
