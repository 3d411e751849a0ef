// Work that is shared out among the threads of a rank: all of it once, in ranges that no two threads write at once.
#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/parallel/host_threads.hpp"
#include "core/parallel/kokkos.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("there are as many threads as Kokkos has on the host") {
  REQUIRE(host_threads() == HostExec().concurrency());
  const AsIfThreads five(5);
  REQUIRE(host_threads() == 5);
  {
    const AsIfThreads two(2);
    REQUIRE(host_threads() == 2);
  }
  REQUIRE(host_threads() == 5);
}

TEST_CASE("every part is worked on once, whoever asks from where") {
  for (int parts : {0, 1, 2, 3, 7, 64}) {
    std::vector<std::atomic<int>> times(64);
    on_threads(parts, [&](int part) {
      on_threads(2, [&](int) { ++times[part]; });  // from inside of another
    });
    for (int k = 0; k < 64; ++k) REQUIRE(times[k] == (k < parts ? 2 : 0));
  }
  std::atomic<int> sum{0};
  std::thread other([&] {
    for (int k = 0; k < 200; ++k) on_threads(4, [&](int part) { sum += part; });
  });
  for (int k = 0; k < 200; ++k) on_threads(4, [&](int part) { sum += part; });
  other.join();
  REQUIRE(sum == 2 * 200 * 6);
}

TEST_CASE("parts run side by side where there are threads") {
  if (HostExec().concurrency() < 2) return;
  std::set<std::thread::id> seen;
  std::atomic<int> there{0};
  std::vector<std::thread::id> who(2);
  on_threads(2, [&](int part) {
    who[part] = std::this_thread::get_id();
    ++there;
    while (there < 2) std::this_thread::yield();  // ends only if both run at one time
  });
  REQUIRE(who[0] != who[1]);
}

TEST_CASE("the first part's error arrives, after all have ended") {
  std::atomic<int> ended{0};
  const auto work = [&](int part) {
    if (part == 1) throw std::runtime_error("part 1");
    if (part == 3) throw std::logic_error("part 3");
    ++ended;
  };
  const AsIfThreads four(4);
  REQUIRE_THROWS_AS(on_threads(4, work), std::runtime_error);
  if (HostExec().concurrency() > 1) REQUIRE(ended == 2);
}

TEST_CASE("shares make up the whole, at ends of cache lines, none too short to be worth a thread") {
  for (int threads : {1, 2, 3, 8}) {
    const AsIfThreads as_if(threads);
    for (std::int64_t n : {0, 1, 15, 16, 17, 100, 1000, 4096})
      for (std::int64_t least : {1, 16, 300}) {
        std::vector<int> times(n, 0);
        std::vector<std::pair<std::int64_t, std::int64_t>> ranges(64, {-1, -1});
        std::atomic<int> calls{0};
        in_shares(n, least, [&](std::int64_t first, std::int64_t last) {
          ranges[calls++] = {first, last};
          for (auto k = first; k < last; ++k) ++times[k];
        });
        for (int once : times) REQUIRE(once == 1);
        REQUIRE(calls >= 1);
        REQUIRE(calls <= threads);
        if (n >= threads * std::max<std::int64_t>(least, 16)) REQUIRE(calls == threads);
        for (int k = 0; k < calls && calls > 1; ++k) {
          const auto [first, last] = ranges[k];
          REQUIRE(first % 16 == 0);
          REQUIRE(last - first >= std::max<std::int64_t>(least, 16) - 15);
        }
      }
  }
}
