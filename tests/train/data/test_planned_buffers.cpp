#include <map>
#include <set>

#include "core/parallel/random.hpp"
#include "core/train/data/planned_buffers.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

TEST_CASE("planned buffers hold and evict as sorted sets do, in an array and in a hash table") {
  const bool dense = GENERATE(true, false);
  const std::int64_t samples = dense ? 500 : 1'000'000'000'000;
  const int ranks = 3;
  PlannedBuffers buffers(samples, ranks, 400);
  std::map<std::int64_t, std::pair<int, std::uint64_t>> held;
  std::vector<std::set<std::pair<std::uint64_t, std::int64_t>>> sets(ranks);
  for (std::uint64_t turn = 0; turn < 20000; ++turn) {
    const Random4 random(7, Stream::test, turn, 0);
    // Neighbouring ids in the sparse case: 500 of them, far from one another or not.
    const std::int64_t id = random.bits[0] % 500 * (dense ? 1 : random.bits[0] % 2 ? 1 : 1'999'999'999);
    const std::uint64_t key = random.bits[1] % 50;
    int rank = static_cast<int>(random.bits[2] % ranks);
    const auto found = held.find(id);
    REQUIRE(buffers.holder_of(id) == (found == held.end() ? -1 : found->second.first));
    if (random.bits[3] % 4 == 0) {
      if (sets[rank].empty()) continue;
      const auto last = *sets[rank].rbegin();
      REQUIRE(buffers.evict(rank) == last.second);
      sets[rank].erase(last);
      held.erase(last.second);
    } else if (random.bits[3] % 4 == 1 && found != held.end()) {
      buffers.erase(id);
      sets[found->second.first].erase({found->second.second, id});
      held.erase(found);
    } else {
      if (found != held.end()) {
        rank = found->second.first;
        sets[rank].erase({found->second.second, id});
      }
      buffers.put(rank, id, key);
      held[id] = {rank, key};
      sets[rank].insert({key, id});
    }
    for (int r = 0; r < ranks; ++r) REQUIRE(buffers.size(r) == std::ssize(sets[r]));
  }
}

TEST_CASE("memory of planned buffers follows what they hold") {
  const std::int64_t held = 100'000;
  for (const std::int64_t samples : {held, 2 * held, std::int64_t{1} << 40}) {
    PlannedBuffers buffers(samples, 16, held);
    for (std::int64_t id = 0; id < held; ++id)
      buffers.put(static_cast<int>(id % 16), id, static_cast<std::uint64_t>(id * 7919 % held));
    // 16 bytes in a heap that grows by an eighth, and 8 bytes per sample or up to 32 per held one.
    CHECK(buffers.bytes() <= 18 * held + std::min(8 * samples, 32 * held) + 16 * 256);
    CHECK(buffers.bytes() >= 24 * held);
  }
}
