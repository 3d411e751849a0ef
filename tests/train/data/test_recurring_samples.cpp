#include <map>
#include <set>

#include "core/train/data/access_plan.hpp"
#include "tests/catch.hpp"

using namespace cambium::train;

namespace {

/// 20 samples that recur 5 times, then 100 that do not, as in a mixture.
constexpr std::int64_t few = 20, times = 5, rest = 100, all = few * times + rest;

AccessPlan::Copies copies() {
  return {[](std::int64_t id) { return id < few * times ? id % few : id; },
          [](std::int64_t id) { return id + few < few * times ? id + few : -1; }};
}

std::pair<std::int64_t, std::int64_t> chunk(std::int64_t id) { return {id / 4 * 4, id / 4 * 4 + 4}; }
std::pair<std::int64_t, std::int64_t> each_alone(std::int64_t id) { return {id, id + 1}; }

}  // namespace

TEST_CASE("samples that recur are read and held once") {
  const bool even = GENERATE(false, true), chunked = GENERATE(false, true);
  for (const int ranks : {1, 2, 4}) {
    BatchPlan plan{.seed = 8, .samples = all, .batch = 24, .ranks = ranks};
    const AccessPlan::Options options{16, true, AccessPlan::Keep::soonest,
                                      even ? AccessPlan::Even::samples : AccessPlan::Even::reads};
    std::vector<AccessPlan> access;
    for (plan.rank = 0; plan.rank < ranks; ++plan.rank)
      access.emplace_back(plan, options, chunked ? chunk : each_alone, copies());
    std::vector<std::set<std::int64_t>> held(ranks);
    for (std::int64_t step = 0; step < 4 * plan.steps_per_epoch(); ++step) {
      const auto order = epoch_order(8, plan.epoch_of(step), all);
      const auto batch = batch_of(plan, order, step);
      std::multiset<std::int64_t> computed;
      std::set<std::int64_t> read;
      for (int r = 0; r < ranks; ++r) {
        const auto& s = access[r].advance();
        computed.insert(s.compute.begin(), s.compute.end());
        std::set<std::int64_t> now = held[r];
        for (const auto id : s.read) {
          REQUIRE(copies().first(id) == id);
          REQUIRE(read.insert(id).second);  // by one rank
          now.insert(id);
        }
        for (const auto id : s.compute) REQUIRE(now.contains(copies().first(id)));
        for (const auto id : s.drop)
          if (!std::count(s.read.begin(), s.read.end(), id) || std::ssize(now) > 16) now.erase(id);
        now.insert(s.bring.begin(), s.bring.end());
        held[r] = now;
      }
      REQUIRE(computed == std::multiset<std::int64_t>(batch.begin(), batch.end()));
    }
  }
}

TEST_CASE("the plan of recurring samples reads less than one that takes them for different ones") {
  BatchPlan plan{.seed = 8, .samples = all, .batch = 10};
  std::int64_t known = 0, unknown = 0;
  AccessPlan a(plan, {40}, each_alone, copies()), b(plan, {40}, each_alone);
  for (std::int64_t step = 0; step < 10 * plan.steps_per_epoch(); ++step) {
    known += std::ssize(a.advance().read);
    unknown += std::ssize(b.advance().read);
  }
  // Belady's rule, sample by sample: no buffer of 40 reads less often.
  std::map<std::int64_t, std::vector<std::int64_t>> uses;
  std::vector<std::int64_t> sequence;
  for (std::int64_t epoch = 0; epoch < 12; ++epoch)
    for (const auto id : epoch_order(8, epoch, all)) {
      uses[copies().first(id)].push_back(std::ssize(sequence));
      sequence.push_back(copies().first(id));
    }
  std::set<std::int64_t> held;
  std::int64_t best = 0;
  for (std::int64_t at = 0; at < 10 * all; ++at) {
    if (held.insert(sequence[at]).second) ++best;
    if (std::ssize(held) <= 40) continue;
    auto next = [&](std::int64_t item) { return *std::upper_bound(uses[item].begin(), uses[item].end(), at); };
    held.erase(*std::max_element(held.begin(), held.end(), [&](auto x, auto y) { return next(x) < next(y); }));
  }
  CHECK(known < unknown);
  // A step keeps its whole batch until its end, hence up to 10 samples more and a few reads fewer.
  CHECK(static_cast<double>(known) == Approx(static_cast<double>(best)).epsilon(0.1));
}
