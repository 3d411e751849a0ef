// METG from curves that are known.
#include "bench/task_bench/metg.hpp"
#include "bench/task_bench/sweep.hpp"
#include "tests/catch.hpp"

using namespace cambium::task_bench;

TEST_CASE("METG of a constant cost per task is that cost") {
  std::vector<GrainPoint> points;
  const double overhead = 3e-6;
  for (double work = 1e-3; work > 1e-8; work /= 2)
    points.push_back({.granularity = work + overhead, .efficiency = work / (work + overhead)});
  // Half efficient where work equals the cost: granularity 6 us, between two points of the sweep.
  CHECK(*metg(points, 0.5) == Approx(6e-6).epsilon(0.05));
}

TEST_CASE("METG lies on the line between the points around the efficiency") {
  const std::vector<GrainPoint> points{{.granularity = 10.0, .efficiency = 0.9},
                                       {.granularity = 4.0, .efficiency = 0.6},
                                       {.granularity = 2.0, .efficiency = 0.2}};
  CHECK(*metg(points, 0.5) == Approx(3.5));
  CHECK(*metg(points, 0.6) == Approx(4.0));
  CHECK_FALSE(metg(points, 0.95));
  CHECK_FALSE(metg({}, 0.5));
  const std::vector<GrainPoint> slower{{.granularity = 4.0, .efficiency = 0.6},
                                       {.granularity = 5.0, .efficiency = 0.2}};
  CHECK(*metg(slower, 0.5) == Approx(4.0));  // what is not faster does not count
}

TEST_CASE("hidden is what messages do not add to values and work") {
  CHECK(Hiding{.messages = 1.0, .values = 2.0, .work = 1.0, .together = 4.0}.share() == Approx(0.0));
  CHECK(Hiding{.messages = 1.0, .values = 2.0, .work = 1.0, .together = 3.3}.share() == Approx(0.7));
  CHECK(Hiding{.messages = 1.0, .values = 2.0, .work = 1.0, .together = 3.0}.share() == Approx(1.0));
  CHECK(Hiding{.messages = 0.0, .values = 2.0, .work = 1.0, .together = 3.0}.share() == 0.0);
}
