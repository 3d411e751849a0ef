// What the last page says of unequal work, and the clock of waits behind it.
#include "core/run/summary/load_line.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/base/timing.hpp"
#include "core/base/wait_clock.hpp"
#include "core/parallel/spin_wait.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("the busiest rank, and what it costs") {
  Comm comm;
  // Rank 0 works 8 of 10 s, the others 4.
  const double waited = comm.root() ? 2.0 : 6.0;
  const double mean = (8.0 + 4.0 * (comm.size() - 1)) / comm.size();
  const auto load = rank_load(10.0, waited, comm);
  REQUIRE(load);
  CHECK(load->results()[0].value == Approx(8.0 / mean));
  const std::string line = load->line();
  if (comm.size() == 2)
    CHECK(line ==
          "load: the busiest rank worked 1.33 times as long as the mean, which cost the others 20.0 % of the time; "
          "messages and waiting took 40.0 %");
  CHECK(line.find(fmt::format("worked {:.2f} times", 8.0 / mean)) != std::string::npos);
  CHECK_FALSE(rank_load(0.0, 0.0, comm));
}

static void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST_CASE("time in messages and waits is counted, work is not") {
  Comm comm;
  comm.barrier();  // counted by nobody
  const WaitClock outer;
  comm.barrier();
  const WaitClock clock;
  CHECK(clock.seconds() == 0.0);
  if (comm.rank() == 1) nap(0.2);
  comm.barrier();
  const double waited = clock.seconds();
  if (comm.rank() == 1)
    CHECK(waited < 0.1);
  else
    CHECK((waited > 0.15 && waited < 0.4));
  nap(0.05);
  CHECK(clock.seconds() == waited);
  const double until = wall_seconds() + 0.1;
  spin_wait([&] { return wall_seconds() > until; });
  CHECK(clock.seconds() > waited + 0.09);
  CHECK(outer.seconds() >= clock.seconds());
}
