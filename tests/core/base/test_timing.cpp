#include <chrono>
#include <string>
#include <thread>

#include "core/base/timing.hpp"
#include "core/run/summary/timing_table.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("an inner section suspends the one around it") {
  Timing timing;
  {
    auto outer = timing.scope("outer");
    auto inner = timing.scope("inner");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  REQUIRE(timing.sections().size() == 2);
  CHECK(timing.sections()[0].seconds < 0.01);
  CHECK(timing.sections()[1].seconds >= 0.02);
}

TEST_CASE("the timing table has rows only for what this loop entered") {
  Timing timing;
  { const auto stage = timing.scope("label"); }
  timing.reset();
  { const auto stage = timing.scope("force"); }
  Task::Work loop;
  loop.steps = 1;
  loop.seconds = 1.0;
  std::string text;
  for (const auto& line : timing_table(timing, loop, Comm())) text += line + "\n";
  CHECK(text.find("force") != std::string::npos);
  CHECK(text.find("other") != std::string::npos);
  CHECK(text.find("label") == std::string::npos);
}
