// Tasks and dependencies of the eleven patterns, as the published program counts them.
#include <algorithm>
#include <map>
#include <string>

#include "bench/task_bench/pattern.hpp"
#include "tests/catch.hpp"

using namespace cambium::task_bench;

TEST_CASE("patterns of width 8 over 8 steps have the published tasks and dependencies") {
  struct Expected {
    std::int64_t tasks, dependencies, radix, period;
  };
  const std::map<std::string, Expected> table{{"trivial", {64, 0, 3, 3}},      {"no_comm", {64, 56, 3, 3}},
                                              {"stencil_1d", {64, 154, 3, 3}}, {"stencil_1d_periodic", {64, 168, 3, 3}},
                                              {"dom", {20, 28, 3, 3}},         {"tree", {47, 46, 3, 3}},
                                              {"fft", {64, 138, 3, 3}},        {"all_to_all", {64, 448, 3, 3}},
                                              {"nearest", {64, 238, 5, 3}},    {"spread", {64, 168, 3, 2}}};
  REQUIRE(dependence_names().size() == table.size() + 1);
  for (const auto& name : dependence_names()) {
    const auto found = table.find(name.name);
    if (found == table.end()) continue;
    const auto& e = found->second;
    const Pattern p{.dependence = name.dependence, .width = 8, .steps = 8, .radix = e.radix, .period = e.period};
    INFO(name.name);
    CHECK(p.problem().empty());
    CHECK(p.tasks() == e.tasks);
    CHECK(p.dependencies() == e.dependencies);
  }
}

/// Which neighbours it keeps is a draw of our own: the published 96 of width 8 are another one of the same chances.
TEST_CASE("random_nearest keeps its own point and about that share of the others") {
  const Pattern p{.dependence = Dependence::random_nearest, .width = 64, .steps = 40, .radix = 5, .fraction = 0.25};
  const Pattern all{.dependence = Dependence::nearest, .width = 64, .steps = 40, .radix = 5};
  for (std::int64_t t = 1; t < p.steps; ++t)
    for (std::int64_t k = 0; k < p.width; ++k) {
      const auto some = p.inputs(t, k), window = all.inputs(t, k);
      CHECK(std::find(some.begin(), some.end(), k) != some.end());
      for (const auto q : some) CHECK(std::find(window.begin(), window.end(), q) != window.end());
      CHECK(some == p.inputs(t + p.period, k));
    }
  const double own = 39 * 64, others = static_cast<double>(all.dependencies()) - own;
  CHECK(static_cast<double>(p.dependencies()) - own == Approx(0.25 * others).epsilon(0.15));
  CHECK(Pattern{.dependence = Dependence::random_nearest, .width = 64, .steps = 40, .radix = 5, .fraction = 0.0}
            .dependencies() == 39 * 64);
  CHECK(Pattern{.dependence = Dependence::random_nearest, .width = 64, .steps = 40, .radix = 5, .fraction = 1.0}
            .dependencies() == all.dependencies());
}

TEST_CASE("sets follow each other step by step, and an odd window leans to the left") {
  const Pattern fft{.dependence = Dependence::fft, .width = 8, .steps = 8};
  CHECK(fft.sets() == 3);
  CHECK(fft.inputs(1, 3) == std::vector<std::int64_t>{2, 3, 4});
  CHECK(fft.inputs(2, 3) == std::vector<std::int64_t>{1, 3, 5});
  CHECK(fft.inputs(3, 3) == std::vector<std::int64_t>{3, 7});
  CHECK(fft.inputs(4, 3) == std::vector<std::int64_t>{2, 3, 4});
  const Pattern even{.dependence = Dependence::nearest, .width = 8, .steps = 2, .radix = 4};
  CHECK(even.inputs(1, 4) == std::vector<std::int64_t>{2, 3, 4, 5});
  const Pattern two{.dependence = Dependence::stencil_1d_periodic, .width = 2, .steps = 2};
  CHECK(two.inputs(1, 0) == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("numbers that no pattern has are refused") {
  CHECK(Pattern{.width = 0}.problem() == "width is 0 and steps 4; give 1 or more");
  CHECK(Pattern{.dependence = Dependence::nearest, .radix = 5}.problem() == "radix is 5; give 1 to the width, 4");
  CHECK(Pattern{.dependence = Dependence::spread, .width = 8, .period = 4}.problem() ==
        "period is 4; spread with width 8 and radix 3 takes 1 to 3");
  CHECK(Pattern{.dependence = Dependence::random_nearest, .period = 0}.problem() == "period is 0; give 1 or more");
}
