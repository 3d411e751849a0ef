// Regions of a profile: whose time is whose, what is counted, and what happens where none is taken.
#include "core/base/recorder.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/base/timing.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

void wait_ms(int n) { std::this_thread::sleep_for(std::chrono::milliseconds(n)); }

const Recorder::Row& row(const Recorder& recorder, const std::string& name) {
  for (const auto& row : recorder.rows())
    if (row.name == name) return row;
  FAIL("no region " + name);
  return recorder.rows().front();
}

}  // namespace

TEST_CASE("a region's time is without what lies inside, and all of it with idle time is the wall") {
  Recorder recorder(10);
  const double started = wall_seconds();
  recorder.begin();
  wait_ms(10);  // idle
  {
    const Region outer("outer", WorkKind::host);
    wait_ms(10);
    const Region inner("inner", WorkKind::matrix, {100.0, 8.0, 4});
    wait_ms(30);
  }
  recorder.end();
  const double wall = wall_seconds() - started;
  const double outer = row(recorder, "outer").seconds, inner = row(recorder, "inner").seconds;
  CHECK(recorder.idle() >= 0.01);
  CHECK(outer >= 0.01);
  CHECK(outer < 0.03);
  CHECK(inner >= 0.03);
  CHECK(std::abs(recorder.idle() + outer + inner - recorder.seconds()) < 1e-9);
  CHECK(std::abs(recorder.seconds() - wall) < 0.01 * wall);
  CHECK(row(recorder, "inner").flops == 100.0);
  CHECK(row(recorder, "inner").word == 4);
  REQUIRE(recorder.events().size() == 2);
  CHECK(recorder.events()[1].seconds >= 0.04);  // with what lies inside
}

TEST_CASE("rows are told apart by section, kernels hold nothing, and events beyond the limit are counted") {
  Recorder recorder(3);
  Timing timing;
  recorder.begin();
  for (const char* section : {"force", "output"}) {
    const auto timer = timing.scope(section);
    const KernelRegion product("product", WorkKind::matrix, {2.0});
    const Region inside("a kernel of the product", WorkKind::elementwise);
    const Region known_late("known late", WorkKind::files);
  }
  recorder.end();
  REQUIRE(recorder.rows().size() == 4);
  CHECK(recorder.rows()[1].section == "force");
  CHECK(recorder.rows()[3].section == "output");
  CHECK(recorder.rows()[1].name == recorder.rows()[3].name);
  CHECK(recorder.events().size() == 3);
  CHECK(recorder.lost_events() == 1);
}

TEST_CASE("what is done in double and in float are two rows") {
  Recorder recorder(0);
  recorder.begin();
  for (int word : {8, 4, 8}) const Region region("product", WorkKind::matrix, {1.0, 0.0, word});
  recorder.end();
  REQUIRE(recorder.rows().size() == 2);
  CHECK(recorder.rows()[0].calls == 2);
  CHECK(recorder.rows()[1].word == 4);
}

TEST_CASE("names at one address are compared, not taken for one another") {
  Recorder recorder(0);
  recorder.begin();
  char name[] = "first";
  for (int k = 0; k < 2; ++k) {
    const Region region(name, WorkKind::host);
    name[0] = 'F';
  }
  recorder.end();
  CHECK(row(recorder, "first").calls == 1);
  CHECK(row(recorder, "First").calls == 1);
}

TEST_CASE("nothing is recorded on another thread, before the beginning and after the end") {
  Recorder recorder(10);
  { const Region early("early", WorkKind::host); }
  recorder.begin();
  std::thread([] { const Region other("other", WorkKind::host); }).join();
  Recorder second(1);
  CHECK_THROWS_AS(second.begin(), std::logic_error);
  recorder.end();
  { const Region late("late", WorkKind::host); }
  CHECK(recorder.rows().empty());
}
