#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/train/data/access_plan.hpp"

namespace cambium::train {

/// The policy of AccessPlan for remapped batches of unchunked samples, written as it is described: all epochs' orders
/// laid out in one list, buffers searched sample by sample.
struct PolicyOracle {
  struct Rank {
    std::vector<std::int64_t> compute;
    std::int64_t reads = 0;
  };
  struct Entry {
    std::int64_t came = 0, used = 0;
  };
  BatchPlan plan;
  AccessPlan::Options options;
  std::vector<std::map<std::int64_t, Entry>> buffers;
  std::vector<std::vector<std::int64_t>> epochs;

  PolicyOracle(const BatchPlan& p, const AccessPlan::Options& o, int count) : plan(p), options(o), buffers(p.ranks) {
    for (int e = 0; e < count; ++e) epochs.push_back(epoch_order(p.seed, e, p.samples));
  }

  /// Steps from `step` on until a sample is used again.
  std::int64_t wait(std::int64_t id, std::int64_t step, std::int64_t end_of_batch) const {
    std::int64_t position = 0;
    const std::int64_t now = step / plan.steps_per_epoch() * plan.samples + end_of_batch;
    for (const auto& order : epochs)
      for (const auto other : order) {
        if (other == id && position >= now) return position;
        ++position;
      }
    return 1 << 30;
  }

  std::vector<Rank> advance(std::int64_t step) {
    const auto& order = epochs[plan.epoch_of(step)];
    const auto batch = batch_of(plan, order, step);
    std::vector<Rank> ranks(buffers.size());
    std::vector<std::int64_t> missing;
    for (const auto id : batch) {
      int holder = -1;
      for (std::size_t r = 0; r < buffers.size(); ++r)
        if (buffers[r].contains(id)) holder = static_cast<int>(r);
      if (holder < 0)
        missing.push_back(id);
      else
        ranks[holder].compute.push_back(id);
    }
    std::sort(missing.begin(), missing.end());
    for (const auto id : missing) {
      std::size_t best = static_cast<std::size_t>(step) % ranks.size();
      for (std::size_t k = 1; k < ranks.size(); ++k) {
        const std::size_t r = (static_cast<std::size_t>(step) + k) % ranks.size();
        const auto a = std::pair(ranks[r].reads, ranks[r].compute.size());
        if (a < std::pair(ranks[best].reads, ranks[best].compute.size())) best = r;
      }
      ranks[best].compute.push_back(id), ++ranks[best].reads;
    }
    const std::int64_t end = step % plan.steps_per_epoch() * plan.batch + std::ssize(batch);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (const auto id : ranks[r].compute) {
        if (!buffers[r].contains(id)) buffers[r][id].came = step;
        buffers[r][id].used = step;
      }
      while (std::ssize(buffers[r]) > options.capacity) buffers[r].erase(victim(buffers[r], step, end));
      std::sort(ranks[r].compute.begin(), ranks[r].compute.end(), [&](auto a, auto b) {
        return std::find(batch.begin(), batch.end(), a) < std::find(batch.begin(), batch.end(), b);
      });
    }
    return ranks;
  }

  /// What leaves first; among equals the largest number.
  std::int64_t victim(const std::map<std::int64_t, Entry>& buffer, std::int64_t step, std::int64_t end) const {
    std::int64_t worst = -1, worst_rank = -(1LL << 40);
    for (const auto& [id, entry] : buffer) {
      std::int64_t badness = 0;
      switch (options.keep) {
        case AccessPlan::Keep::soonest:
          badness = wait(id, step, end);
          break;
        case AccessPlan::Keep::newest:
          badness = -entry.came;
          break;
        case AccessPlan::Keep::recent:
          badness = -entry.used;
          break;
        case AccessPlan::Keep::first:
          badness = entry.came;
          break;
      }
      if (badness >= worst_rank) {
        worst = id;
        worst_rank = badness;
      }
    }
    return worst;
  }
};

}  // namespace cambium::train
