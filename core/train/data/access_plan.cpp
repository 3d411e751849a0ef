#include "core/train/data/access_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

namespace cambium::train {

namespace {

constexpr auto never = std::numeric_limits<std::uint64_t>::max();

/// Positions in a batch of this size that each of these ranks computes.
std::vector<std::pair<std::int64_t, std::int64_t>> slices_of_ranks(BatchPlan plan, const std::vector<int>& ranks,
                                                                   std::int64_t batch) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (const int rank : ranks) {
    plan.rank = rank;
    const auto slices = slices_of(plan, batch);
    out.emplace_back(slices.front().first, slices.back().second);
  }
  return out;
}

}  // namespace

AccessPlan::AccessPlan(const BatchPlan& plan, const Options& options, ChunkOf chunk_of, Copies copies)
    : plan_(plan), options_(options), chunk_of_(std::move(chunk_of)), copies_(std::move(copies)) {
  // Ranks that can buffer everything do not need remapping, and then compute equal parts.
  remap_ = options.remap && options.node.empty() && !plan.ordered && plan.ranks > 1 && options.capacity < plan.samples;
  ranks_ = options.node.empty() ? std::vector{plan.rank} : options.node;
  if (remap_) {
    ranks_.resize(plan.ranks);
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }
  own_ = static_cast<int>(std::find(ranks_.begin(), ranks_.end(), plan.rank) - ranks_.begin());
  const std::int64_t rest = plan.samples - (plan.steps_per_epoch() - 1) * plan.batch;
  slices_ = slices_of_ranks(plan, ranks_, plan.batch);
  last_slices_ = slices_of_ranks(plan, ranks_, rest);
  const std::int64_t most = std::min(options.capacity, plan.samples / std::ssize(ranks_) + 1) * std::ssize(ranks_);
  buffers_ = PlannedBuffers(plan.samples, std::ssize(ranks_), std::min(most, plan.samples));
}

void AccessPlan::begin_epoch(std::int64_t epoch) {
  order_ = then_.epoch() == epoch ? std::move(then_) : EpochOrder(plan_, epoch);
  order_.add_order();
  then_ = EpochOrder(plan_, epoch + 1);
}

/// True if a planned rank computes this position of an epoch that is not remapped.
bool AccessPlan::planned_here(std::int64_t place) const {
  if (std::ssize(ranks_) == plan_.ranks) return true;
  const std::int64_t at = place % plan_.batch;
  const auto& slices = place / plan_.batch + 1 < plan_.steps_per_epoch() ? slices_ : last_slices_;
  auto after = std::upper_bound(slices.begin(), slices.end(), at,
                                [](std::int64_t value, const auto& slice) { return value < slice.second; });
  return after != slices.end() && at >= after->first;
}

/// Position of the next use of this index after the current batch; `never` if beyond the end of the run or, without
/// remapping, not computed by a planned rank in this or the next epoch.
AccessPlan::Position AccessPlan::next_position(std::int64_t id) const {
  const auto n = static_cast<Position>(plan_.samples);
  const Position base = static_cast<Position>(order_.epoch()) * n;
  auto good = [&](Position at, std::int64_t place) {
    const auto step = static_cast<std::int64_t>(at / n) * plan_.steps_per_epoch() + place / plan_.batch;
    return at >= now_ && (plan_.steps == 0 || step < plan_.steps) && (remap_ || planned_here(place));
  };
  const std::int64_t place = order_.place_of(id);
  if (good(base + static_cast<Position>(place), place)) return base + static_cast<Position>(place);
  const std::int64_t then = then_.place_of(id);
  if (good(base + n + static_cast<Position>(then), then)) return base + n + static_cast<Position>(then);
  return never;
}

/// The next use of a sample under any of its indices.
AccessPlan::Position AccessPlan::next_use(std::int64_t id) const {
  Position soonest = next_position(id);
  if (!copies_.next) return soonest;
  for (std::int64_t copy = copies_.next(id); copy >= 0; copy = copies_.next(copy))
    soonest = std::min(soonest, next_position(copy));
  return soonest;
}

/// Eviction key: the item with the largest key is evicted first.
AccessPlan::Position AccessPlan::key_of(std::int64_t id) const {
  switch (options_.keep) {
    case Keep::soonest:
      return next_use(id);
    case Keep::newest:
      return never - now_;
    case Keep::recent:
      return never - now_;
    case Keep::first:
      return now_;
  }
  return never;
}

/// Assigns unbuffered samples, chunk by chunk, to the rank with the fewest reads in this batch; ties go to the rank
/// with the fewest samples, then round-robin. Remapped, that rank computes them, too.
void AccessPlan::deal_missing(std::span<const std::int64_t> ids, const std::vector<std::int64_t>& places,
                              Shares& shares) {
  const auto ranks = std::ssize(shares);
  const std::int64_t most = (std::ssize(ids) + ranks - 1) / ranks;
  using Missing = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::vector<Missing> by_chunk;  // first sample of the chunk, position, sample
  for (const auto place : places) {
    const std::int64_t item = first_copy(ids[place]);
    by_chunk.emplace_back(chunk_of_(item).first, copies_.first ? item : place, place);
  }
  std::sort(by_chunk.begin(), by_chunk.end());
  using Load = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // two quantities, turn
  const bool even = options_.even == Even::samples && remap_;
  auto load_of = [&](std::int64_t turn) -> Load {
    const Share& share = shares[(next_step_ + turn) % ranks];
    const auto samples = std::ssize(share.compute);
    return even ? Load{samples, share.reads, turn} : Load{share.reads, samples, turn};
  };
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::int64_t turn = 0; turn < ranks && !by_chunk.empty(); ++turn) least.push(load_of(turn));
  Share* target = nullptr;
  std::int64_t turn = -1, last_item = -1;
  for (std::size_t k = 0; k < by_chunk.size(); ++k) {
    const std::int64_t place = std::get<2>(by_chunk[k]), item = first_copy(ids[place]);
    const bool again = target && item == last_item;
    const bool full = even && target && !again && std::ssize(target->compute) >= most;
    if (k == 0 || std::get<0>(by_chunk[k]) != std::get<0>(by_chunk[k - 1]) || full) {
      if (target) least.push(load_of(turn));
      turn = std::get<2>(least.top());
      least.pop();
      target = &shares[(next_step_ + turn) % ranks];
      ++target->reads;
    }
    if (remap_) target->compute.push_back(place);
    if (!again) target->missing.push_back(item);
    last_item = item;
  }
}

/// Assigns every sample to the rank that has it buffered, the others by deal_missing().
void AccessPlan::deal(std::span<const std::int64_t> ids, Shares& shares) {
  const std::int64_t most = (std::ssize(ids) + plan_.ranks - 1) / plan_.ranks;
  std::vector<std::int64_t> missing;
  std::unordered_set<std::int64_t> dealt;  // samples that may come again in this batch
  for (std::int64_t k = 0; k < std::ssize(ids); ++k) {
    const std::int64_t item = first_copy(ids[k]);
    const int holder = buffers_.holder_of(item);
    const bool full = holder >= 0 && options_.even == Even::samples && !dealt.contains(item) &&
                      std::ssize(shares[holder].compute) >= most;
    if (holder >= 0 && !full) {
      shares[holder].compute.push_back(k);
      if (copies_.first) dealt.insert(item);
      continue;
    }
    if (full) {  // it moves to the rank that will read it
      buffers_.erase(item);
      if (holder == own_) step_.drop.push_back(item);
    }
    missing.push_back(k);
  }
  deal_missing(ids, missing, shares);
  for (auto& share : shares) std::sort(share.compute.begin(), share.compute.end());
}

/// Assigns every planned rank its own slices, and the samples that none of them holds to one of them for reading.
void AccessPlan::own_slices(std::span<const std::int64_t> ids, Shares& shares) {
  const auto& slices = std::ssize(ids) == plan_.batch ? slices_ : last_slices_;
  std::vector<std::int64_t> missing;
  for (std::size_t r = 0; r < shares.size(); ++r)
    for (std::int64_t k = slices[r].first; k < slices[r].second; ++k) {
      shares[r].compute.push_back(k);
      if (buffers_.holder_of(first_copy(ids[k])) < 0) missing.push_back(k);
    }
  deal_missing(ids, missing, shares);
}

/// Inserts the samples of this step into buffers, or updates their keys.
void AccessPlan::buffer_used(std::span<const std::int64_t> ids, const Shares& shares) {
  const bool keeps_key = options_.keep == Keep::newest || options_.keep == Keep::first;
  for (int buffer = 0; buffer < static_cast<int>(shares.size()); ++buffer)
    for (const auto item : shares[buffer].missing) buffers_.put(buffer, item, key_of(item));
  for (const auto& share : shares)
    for (const auto place : share.compute) {
      const std::int64_t item = first_copy(ids[place]);
      if (!keeps_key) buffers_.put(buffers_.holder_of(item), item, key_of(item));
    }
}

/// Adds the neighbours read along by a rank and evicts samples down to the buffer's capacity.
void AccessPlan::finish(int buffer, Share& share) {
  std::vector<std::int64_t> neighbours;
  for (const auto id : share.missing) {
    const auto [first, last] = chunk_of_(id);
    for (std::int64_t other = first; last - first > 1 && other < last; ++other) {
      if (buffers_.holder_of(other) >= 0) continue;
      buffers_.put(buffer, other, key_of(other));
      neighbours.push_back(other);
    }
  }
  std::sort(neighbours.begin(), neighbours.end());
  while (buffers_.size(buffer) > options_.capacity) {
    const std::int64_t id = buffers_.evict(buffer);
    const bool never_held = std::binary_search(neighbours.begin(), neighbours.end(), id);
    if (buffer == own_ && !never_held) step_.drop.push_back(id);
  }
  if (buffer != own_) return;
  std::sort(share.missing.begin(), share.missing.end());
  step_.read = share.missing;
  for (const auto id : neighbours)
    if (buffers_.holder_of(id) == buffer) step_.bring.push_back(id);
}

/// Samples of this rank, and which buffers of the node have those that other ranks compute.
void AccessPlan::describe_own(std::span<const std::int64_t> ids, const Shares& shares) {
  for (const auto place : shares[own_].compute) step_.compute.push_back(ids[place]);
  if (options_.node.empty()) return;
  std::vector<std::pair<int, std::int64_t>> lent;  // buffer, sample
  for (int rank = 0; rank < static_cast<int>(shares.size()); ++rank)
    for (const auto place : shares[rank].compute) {
      const std::int64_t item = first_copy(ids[place]);
      const int buffer = buffers_.holder_of(item);
      if (rank == own_) step_.holder.push_back(buffer);
      if (rank != buffer) lent.emplace_back(buffer, item);
    }
  std::sort(lent.begin(), lent.end());
  lent.erase(std::unique(lent.begin(), lent.end()), lent.end());
  std::vector<std::int64_t> counts(shares.size(), 0);
  for (const auto& [buffer, item] : lent) {
    step_.most_lent = std::max(step_.most_lent, ++counts[buffer]);
    if (buffer == own_) step_.lend.push_back(item);
  }
}

const AccessPlan::Step& AccessPlan::advance() {
  const std::int64_t epoch = plan_.epoch_of(next_step_);
  if (epoch != order_.epoch()) begin_epoch(epoch);
  const std::int64_t first = next_step_ % plan_.steps_per_epoch() * plan_.batch;
  std::vector<std::int64_t> ids(std::min(plan_.batch, plan_.samples - first));
  for (std::int64_t k = 0; k < std::ssize(ids); ++k) ids[k] = order_.at(first + k);
  step_ = {};
  step_.step = next_step_;
  step_.batch = std::ssize(ids);
  step_.reads.assign(plan_.ranks, 0);
  now_ = static_cast<Position>(epoch * plan_.samples + first + step_.batch);
  Shares shares(ranks_.size());
  if (remap_)
    deal(ids, shares);
  else
    own_slices(ids, shares);
  const Share& own = shares[own_];
  step_.found = std::ssize(own.compute);
  if (remap_ || options_.node.empty()) {
    step_.found -= std::ssize(own.missing);
  } else {
    for (const auto place : own.compute)
      if (buffers_.holder_of(first_copy(ids[place])) < 0) --step_.found;
  }
  buffer_used(ids, shares);
  describe_own(ids, shares);
  for (int buffer = 0; buffer < static_cast<int>(shares.size()); ++buffer) {
    step_.reads[ranks_[buffer]] = shares[buffer].reads;
    finish(buffer, shares[buffer]);
  }
  ++next_step_;
  return step_;
}

std::int64_t AccessPlan::bytes() const {
  const auto vectors = (ranks_.capacity() * sizeof(int)) + (slices_.capacity() + last_slices_.capacity()) * 16 +
                       (step_.compute.capacity() + step_.read.capacity() + step_.drop.capacity() +
                        step_.bring.capacity() + step_.reads.capacity()) *
                           sizeof(std::int64_t) +
                       step_.lend.capacity() * sizeof(std::int64_t) + step_.holder.capacity() * sizeof(int);
  return order_.bytes() + then_.bytes() + buffers_.bytes() + static_cast<std::int64_t>(vectors);
}

std::int64_t AccessPlan::most_bytes(const BatchPlan& plan, std::int64_t capacity, std::int64_t ranks) {
  const bool stored = plan.permutation == BatchPlan::Permutation::stored;
  const std::int64_t per_rank = std::min(capacity + plan.batch, plan.samples);
  const std::int64_t held = std::min(plan.samples / ranks >= per_rank ? per_rank * ranks : plan.samples, plan.samples);
  const std::int64_t table = std::min(8 * plan.samples, 32 * held);
  constexpr std::int64_t per_buffer = 256;  // heap's header and its reserve, share, slices
  return (stored ? 12 : 0) * plan.samples + table + 18 * held + per_buffer * ranks + 64 * plan.batch;
}

}  // namespace cambium::train
