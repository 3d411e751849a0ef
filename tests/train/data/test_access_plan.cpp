#include <cmath>
#include <numeric>

#include "tests/catch.hpp"
#include "tests/train/data/policy_oracle.hpp"

using namespace cambium;
using namespace cambium::train;
using Keep = AccessPlan::Keep;

namespace {

std::pair<std::int64_t, std::int64_t> alone(std::int64_t id) { return {id, id + 1}; }

/// Samples that all ranks together read from the second epoch to the last, and the reads of each rank.
struct Traffic {
  std::int64_t samples = 0, loads = 0;
  std::vector<std::int64_t> reads;
  double found() const { return 1.0 - static_cast<double>(loads) / static_cast<double>(samples); }
};

Traffic traffic(BatchPlan plan, const AccessPlan::Options& options, int epochs, AccessPlan::ChunkOf chunk_of = alone) {
  Traffic out;
  out.reads.assign(plan.ranks, 0);
  for (plan.rank = 0; plan.rank < plan.ranks; ++plan.rank) {
    AccessPlan access(plan, options, chunk_of);
    for (std::int64_t step = 0; step < epochs * plan.steps_per_epoch(); ++step) {
      const auto& s = access.advance();
      if (step < plan.steps_per_epoch()) continue;
      out.samples += std::ssize(s.compute);
      out.loads += std::ssize(s.read);
      out.reads[plan.rank] += s.reads[plan.rank];
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the plan does what its description says, for every policy") {
  const auto keep = GENERATE(Keep::soonest, Keep::newest, Keep::recent, Keep::first);
  const auto shape =
      GENERATE(std::array<int, 4>{37, 5, 1, 11}, std::array<int, 4>{60, 8, 2, 13}, std::array<int, 4>{64, 16, 4, 9},
               std::array<int, 4>{53, 9, 3, 0}, std::array<int, 4>{41, 41, 5, 4});
  const int epochs = 4;
  BatchPlan plan{.seed = 7, .samples = shape[0], .batch = shape[1], .ranks = shape[2]};
  const AccessPlan::Options options{shape[3], true, keep, AccessPlan::Even::reads};
  PolicyOracle oracle(plan, options, epochs + 1);
  std::vector<AccessPlan> access;
  for (plan.rank = 0; plan.rank < plan.ranks; ++plan.rank) access.emplace_back(plan, options, alone);
  for (std::int64_t step = 0; step < epochs * plan.steps_per_epoch(); ++step) {
    const auto expected = oracle.advance(step);
    for (int r = 0; r < plan.ranks; ++r) {
      const auto& got = access[r].advance();
      REQUIRE(got.compute == expected[r].compute);
      REQUIRE(std::ssize(got.read) == expected[r].reads);
      REQUIRE(got.reads[r] == expected[r].reads);
      REQUIRE(got.found == std::ssize(got.compute) - expected[r].reads);
    }
  }
}

TEST_CASE("every sample of an epoch is computed once, in the same global batches for any number of ranks") {
  const bool chunked = GENERATE(false, true), even = GENERATE(false, true);
  auto chunk_of = [&](std::int64_t id) {
    return chunked ? std::pair(id / 8 * 8, std::min<std::int64_t>(id / 8 * 8 + 8, 1000)) : alone(id);
  };
  for (const int ranks : {1, 2, 3, 8}) {
    BatchPlan plan{.seed = 3, .samples = 1000, .batch = 48, .slices = 2, .ranks = ranks};
    const AccessPlan::Options options{150, true, Keep::soonest,
                                      even ? AccessPlan::Even::samples : AccessPlan::Even::reads};
    std::vector<AccessPlan> access;
    for (plan.rank = 0; plan.rank < ranks; ++plan.rank) access.emplace_back(plan, options, chunk_of);
    std::vector<std::set<std::int64_t>> held(ranks);
    for (std::int64_t step = 0; step < 3 * plan.steps_per_epoch(); ++step) {
      const auto order = epoch_order(3, plan.epoch_of(step), 1000);
      const auto batch = batch_of(plan, order, step);
      std::multiset<std::int64_t> all;
      for (int r = 0; r < ranks; ++r) {
        const auto& s = access[r].advance();
        all.insert(s.compute.begin(), s.compute.end());
        if (even) CHECK(std::ssize(s.compute) <= (std::ssize(batch) + ranks - 1) / ranks);
        // What it need not read it holds, and its buffer stays within its size.
        std::set<std::int64_t> now = held[r];
        for (const auto id : s.read) REQUIRE(now.insert(id).second);
        for (const auto id : s.compute) REQUIRE(now.contains(id));
        for (const auto id : s.drop) REQUIRE(now.erase(id) + std::count(s.bring.begin(), s.bring.end(), id) > 0);
        now.insert(s.bring.begin(), s.bring.end());
        REQUIRE(std::ssize(now) <= 150);
        held[r] = now;
      }
      REQUIRE(all == std::multiset<std::int64_t>(batch.begin(), batch.end()));
    }
  }
}

TEST_CASE("an ordered plan gives each rank its slices, whatever is buffered") {
  for (const int ranks : {1, 2, 4}) {
    std::vector<std::int64_t> all;
    BatchPlan plan{.seed = 3, .samples = 200, .batch = 24, .ordered = true, .slices = 8, .ranks = ranks};
    std::vector<AccessPlan> access;
    for (plan.rank = 0; plan.rank < ranks; ++plan.rank) access.emplace_back(plan, AccessPlan::Options{20, true}, alone);
    for (std::int64_t step = 0; step < 20; ++step) {
      all.clear();
      for (int r = 0; r < ranks; ++r) {
        const auto& s = access[r].advance();
        all.insert(all.end(), s.compute.begin(), s.compute.end());
      }
      const auto order = epoch_order(3, plan.epoch_of(step), 200);
      const auto batch = batch_of(plan, order, step);
      REQUIRE(all == std::vector<std::int64_t>(batch.begin(), batch.end()));
    }
  }
}

TEST_CASE("remapping reads less by the predicted factor, evenly over the ranks") {
  const int epochs = 9;
  for (const int ranks : {2, 4, 8})
    for (const double f : {0.1, 0.25, 0.5, 0.9}) {
      BatchPlan plan{.seed = 11, .samples = 4000, .batch = 64, .ranks = ranks};
      const auto capacity = static_cast<std::int64_t>(f * 4000 / ranks);
      const auto ours = traffic(plan, {capacity, true}, epochs);
      const auto theirs = traffic(plan, {capacity, false, Keep::first}, epochs);
      const double factor = (1.0 - f / ranks) / (1.0 - f);
      INFO("ranks " << ranks << " f " << f);
      CHECK(ours.found() == Approx(f).epsilon(0.001));
      CHECK(theirs.found() == Approx(f / ranks).margin(0.01));
      CHECK(static_cast<double>(theirs.loads) / static_cast<double>(ours.loads) == Approx(factor).epsilon(0.05));
      const double mean = static_cast<double>(ours.loads) / ranks;
      CHECK(static_cast<double>(*std::max_element(ours.reads.begin(), ours.reads.end())) <= 1.05 * mean);
    }
}

TEST_CASE("no policy reads less than keeping what is used soonest") {
  for (const int ranks : {1, 4})
    for (const std::uint64_t seed : {1, 2, 3})
      for (const std::int64_t capacity : {10, 40, 100, 230}) {
        BatchPlan plan{.seed = seed, .samples = 1000, .batch = 32, .ranks = ranks};
        const auto best = traffic(plan, {capacity, true, Keep::soonest}, 5).loads;
        for (const auto other : {Keep::newest, Keep::recent, Keep::first})
          CHECK(best <= traffic(plan, {capacity, true, other}, 5).loads);
      }
}

TEST_CASE("neighbours of a chunk that are used soon are kept") {
  BatchPlan plan{.seed = 5, .samples = 4096, .batch = 64};
  auto chunk_of = [](std::int64_t id) { return std::pair(id / 16 * 16, id / 16 * 16 + 16); };
  const auto plain = traffic(plan, {1024, true}, 5);
  const auto chunks = traffic(plan, {1024, true}, 5, chunk_of);
  CHECK(plain.found() == Approx(0.25).epsilon(0.001));
  CHECK(chunks.found() > 0.7);
  CHECK(chunks.reads[0] < plain.reads[0] / 2);
}

TEST_CASE("a node's ranks read each sample once and compute their own slices") {
  const bool ordered = GENERATE(false, true), chunked = GENERATE(false, true);
  auto chunk_of = [&](std::int64_t id) { return chunked ? std::pair(id / 8 * 8, id / 8 * 8 + 8) : alone(id); };
  for (const auto& nodes : {std::vector<std::vector<int>>{{0, 1, 2, 3}}, {{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}}) {
    BatchPlan plan{.seed = 3, .samples = 400, .batch = 48, .ordered = ordered, .slices = ordered ? 8 : 1, .ranks = 4};
    std::vector<AccessPlan> access;
    std::vector<std::vector<int>> node_of(4);
    for (const auto& node : nodes)
      for (const int rank : node) node_of[rank] = node;
    for (plan.rank = 0; plan.rank < 4; ++plan.rank)
      access.emplace_back(plan, AccessPlan::Options{.capacity = 20, .node = node_of[plan.rank]}, chunk_of);
    std::vector<std::set<std::int64_t>> held(4);
    for (std::int64_t step = 0; step < 3 * plan.steps_per_epoch(); ++step) {
      const auto order = epoch_order(3, plan.epoch_of(step), 400);
      const auto batch = batch_of(plan, order, step);
      std::vector<AccessPlan::Step> steps;
      for (auto& rank : access) steps.push_back(rank.advance());
      std::vector<std::set<std::int64_t>> lent(4);
      for (int r = 0; r < 4; ++r) {
        plan.rank = r;
        const auto slices = slices_of(plan, std::ssize(batch));
        REQUIRE(steps[r].compute ==
                std::vector<std::int64_t>(batch.begin() + slices.front().first, batch.begin() + slices.back().second));
        for (const auto id : steps[r].read) REQUIRE(held[r].insert(id).second);
        for (std::size_t k = 0; k < steps[r].compute.size(); ++k)
          if (const int from = node_of[r][steps[r].holder[k]]; from != r) lent[from].insert(steps[r].compute[k]);
      }
      for (int r = 0; r < 4; ++r) {
        // Nothing is read that another rank of the node holds, and all that is computed is held.
        for (const int other : node_of[r])
          if (other != r)
            for (const auto id : steps[r].read) REQUIRE(!held[other].contains(id));
        for (std::size_t k = 0; k < steps[r].compute.size(); ++k)
          REQUIRE(held[node_of[r][steps[r].holder[k]]].contains(steps[r].compute[k]));
        REQUIRE(steps[r].lend == std::vector<std::int64_t>(lent[r].begin(), lent[r].end()));
        REQUIRE(std::ssize(lent[r]) <= steps[r].most_lent);
        REQUIRE(steps[r].most_lent == steps[node_of[r].front()].most_lent);
      }
      for (int r = 0; r < 4; ++r) {
        for (const auto id : steps[r].drop) held[r].erase(id);
        held[r].insert(steps[r].bring.begin(), steps[r].bring.end());
        REQUIRE(std::ssize(held[r]) <= 20);
      }
    }
  }
}

TEST_CASE("buffers of a node together find what one buffer of their size finds") {
  const int epochs = 7;
  for (const double f : {0.25, 0.5}) {
    BatchPlan plan{.seed = 11, .samples = 2000, .batch = 64, .ordered = true, .slices = 8, .ranks = 4};
    const auto capacity = static_cast<std::int64_t>(f * 2000 / 4);
    std::int64_t loads = 0, alone_loads = 0;
    std::vector<std::int64_t> reads(4, 0);
    for (plan.rank = 0; plan.rank < 4; ++plan.rank) {
      AccessPlan shared(plan, {.capacity = capacity, .node = {0, 1, 2, 3}}, alone), single(plan, {capacity}, alone);
      for (std::int64_t step = 0; step < epochs * plan.steps_per_epoch(); ++step) {
        const auto& a = shared.advance();
        const auto& b = single.advance();
        if (step < plan.steps_per_epoch()) continue;
        loads += std::ssize(a.read);
        reads[plan.rank] += a.reads[plan.rank];
        alone_loads += std::ssize(b.read);
      }
    }
    const double all = 2000.0 * (epochs - 1);
    INFO("f " << f);
    CHECK(static_cast<double>(loads) == Approx((1 - f) * all).epsilon(0.01));
    CHECK(loads < alone_loads);  // of a rank that finds only what it computes again itself
    CHECK(static_cast<double>(*std::max_element(reads.begin(), reads.end())) <= 1.05 * static_cast<double>(loads) / 4);
  }
}
