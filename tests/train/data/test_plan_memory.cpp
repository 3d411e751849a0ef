#include <malloc.h>

#include "core/train/data/access_plan.hpp"
#include "tests/catch.hpp"

using namespace cambium::train;

namespace {

std::pair<std::int64_t, std::int64_t> one_by_one(std::int64_t id) { return {id, id + 1}; }

/// Bytes that the program has allocated; 0 where the allocator is another one (sanitizers).
std::int64_t allocated() {
  const auto info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

}  // namespace

TEST_CASE("the memory of a plan for 1,024 ranks does not grow with the steps") {
  for (const auto permutation : {BatchPlan::Permutation::stored, BatchPlan::Permutation::computed}) {
    const std::int64_t samples = 200'000, capacity = 100;
    const BatchPlan plan{
        .seed = 3, .samples = samples, .batch = 4096, .rank = 517, .ranks = 1024, .permutation = permutation};
    const std::int64_t before = allocated();
    AccessPlan access(plan, {capacity}, one_by_one);
    std::int64_t first_epoch = 0, largest = 0;
    for (std::int64_t step = 0; step < 4 * plan.steps_per_epoch(); ++step) {
      access.advance();
      largest = std::max(largest, access.bytes());
      if (step + 1 == plan.steps_per_epoch()) first_epoch = largest;
      if (step == 0 || step == 3 * plan.steps_per_epoch())
        if (const std::int64_t taken = allocated() - before; allocated() > 0)
          CHECK(static_cast<double>(access.bytes()) == Approx(static_cast<double>(taken)).epsilon(0.1));
    }
    INFO("bytes " << largest << ", bound " << AccessPlan::most_bytes(plan, capacity, 1024));
    CHECK(static_cast<double>(largest) <= 1.01 * static_cast<double>(first_epoch));
    CHECK(largest <= AccessPlan::most_bytes(plan, capacity, 1024));
    const std::int64_t held = 1024 * capacity;
    CHECK(largest >= (permutation == BatchPlan::Permutation::stored ? 12 : 0) * samples + 24 * held);
  }
}

TEST_CASE("the memory of a plan depends on the samples in all buffers, not on how many ranks have them") {
  const std::int64_t samples = 100'000, held = 51'200;
  std::int64_t of_16 = 0;
  for (const int ranks : {16, 1024}) {
    const BatchPlan plan{.seed = 3, .samples = samples, .batch = 2048, .ranks = ranks};
    AccessPlan access(plan, {held / ranks}, one_by_one);
    for (std::int64_t step = 0; step < 2 * plan.steps_per_epoch(); ++step) access.advance();
    if (ranks == 16) of_16 = access.bytes();
    CHECK(access.bytes() - of_16 <= 256 * 1024);
  }
}

TEST_CASE("a plan of 10^12 samples in computed order takes the memory of what is held") {
  const BatchPlan plan{.seed = 3,
                       .samples = 1'000'000'000'000,
                       .batch = 4096,
                       .rank = 3,
                       .ranks = 1024,
                       .permutation = BatchPlan::Permutation::computed};
  AccessPlan access(plan, {100}, one_by_one);
  std::int64_t loads = 0;
  for (std::int64_t step = 0; step < 50; ++step) loads += std::ssize(access.advance().read);
  CHECK(loads == 50 * 4);  // nothing recurs, and 1,024 ranks read equally often
  CHECK(access.bytes() <= AccessPlan::most_bytes(plan, 100, 1024));
  CHECK(access.bytes() <= 52 * 1024 * 104 + 256 * 1024 + 64 * 4096);
}
