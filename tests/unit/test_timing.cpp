#include <chrono>
#include <thread>

#include "core/base/timing.hpp"
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
