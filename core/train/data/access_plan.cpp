#include "core/train/data/access_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace cambium::train {

namespace {

constexpr auto never = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint32_t> inverse(const std::vector<std::int64_t>& order) {
  std::vector<std::uint32_t> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::uint32_t>(k);
  return place;
}

}  // namespace

AccessPlan::AccessPlan(const BatchPlan& plan, const Options& options, ChunkOf chunk_of)
    : plan_(plan), options_(options), chunk_of_(std::move(chunk_of)) {
  // Ranks that can buffer everything do not need remapping, and then compute equal parts.
  remap_ = options.remap && !plan.ordered && plan.ranks > 1 && options.capacity < plan.samples;
  const auto n = static_cast<std::size_t>(plan.samples);
  holder_.assign(n, -1);
  key_.assign(n, 0);
  buffers_.resize(plan.ranks);
}

void AccessPlan::begin_epoch(std::int64_t epoch) {
  if (epoch == epoch_ + 1 && !then_.empty()) {
    place_.swap(then_);
  } else {
    place_ = inverse(epoch_order(plan_.seed, epoch, plan_.samples));
  }
  order_.resize(place_.size());
  for (std::size_t id = 0; id < place_.size(); ++id) order_[place_[id]] = static_cast<std::int64_t>(id);
  then_ = inverse(epoch_order(plan_.seed, epoch + 1, plan_.samples));
  epoch_ = epoch;
}

/// True if this rank computes this position of an epoch that is not remapped.
bool AccessPlan::mine(std::uint32_t place) const {
  const std::int64_t first = place / plan_.batch * plan_.batch;
  const auto slices = slices_of(plan_, std::min(plan_.batch, plan_.samples - first));
  const std::int64_t at = place - first;
  return at >= slices.front().first && at < slices.back().second;
}

/// Position of the next use of a sample after the current batch; `never` if beyond the end of the run or, without
/// remapping, not computed by this rank in this or the next epoch.
AccessPlan::Position AccessPlan::next_use(std::int64_t id) const {
  const auto n = static_cast<Position>(plan_.samples);
  const auto k = static_cast<std::size_t>(id);
  const Position base = static_cast<Position>(epoch_) * n;
  auto good = [&](Position at, std::uint32_t place) {
    const auto step = static_cast<std::int64_t>(at / n) * plan_.steps_per_epoch() + place / plan_.batch;
    return at >= now_ && (plan_.steps == 0 || step < plan_.steps) && (remap_ || mine(place));
  };
  if (good(base + place_[k], place_[k])) return base + place_[k];
  if (good(base + n + then_[k], then_[k])) return base + n + then_[k];
  return never;
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
/// with the fewest samples, then round-robin.
void AccessPlan::deal_missing(std::span<const std::int64_t> ids, const std::vector<std::int64_t>& places,
                              std::vector<Share>& shares) {
  const auto ranks = static_cast<std::int64_t>(shares.size());
  const std::int64_t most = (std::ssize(ids) + ranks - 1) / ranks;
  std::vector<std::pair<std::int64_t, std::int64_t>> by_chunk;  // first sample of the chunk, position
  for (const auto place : places) by_chunk.emplace_back(chunk_of_(ids[place]).first, place);
  std::stable_sort(by_chunk.begin(), by_chunk.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Share* target = nullptr;
  for (std::size_t k = 0; k < by_chunk.size(); ++k) {
    const bool full = options_.even == Even::samples && target && std::ssize(target->compute) >= most;
    if (k == 0 || by_chunk[k].first != by_chunk[k - 1].first || full) {
      auto worse = [&](const Share& a, const Share& b) {  // a is a worse choice than b
        const auto x = std::ssize(a.compute), y = std::ssize(b.compute);
        if (options_.even == Even::samples) return x != y ? x > y : a.reads > b.reads;
        return a.reads != b.reads ? a.reads > b.reads : x > y;
      };
      target = nullptr;
      for (std::int64_t r = 0; r < ranks; ++r) {
        Share& candidate = shares[(next_step_ + r) % ranks];
        if (!target || worse(*target, candidate)) target = &candidate;
      }
      ++target->reads;
    }
    target->compute.push_back(by_chunk[k].second);
    target->missing.push_back(ids[by_chunk[k].second]);
  }
}

/// Assigns every sample to the rank that has it buffered, the others by deal_missing().
void AccessPlan::deal(std::span<const std::int64_t> ids, std::vector<Share>& shares) {
  const std::int64_t most = (std::ssize(ids) + plan_.ranks - 1) / plan_.ranks;
  std::vector<std::int64_t> missing;
  for (std::int64_t k = 0; k < std::ssize(ids); ++k) {
    const auto id = static_cast<std::size_t>(ids[k]);
    const int holder = holder_[id];
    const bool full = holder >= 0 && options_.even == Even::samples && std::ssize(shares[holder].compute) >= most;
    if (holder < 0 || full) {
      if (full) {  // it moves to the rank that will read it
        buffers_[holder].erase({key_[id], static_cast<std::int64_t>(id)});
        holder_[id] = -1;
        if (holder == plan_.rank) step_.drop.push_back(static_cast<std::int64_t>(id));
      }
      missing.push_back(k);
    } else {
      shares[holder].compute.push_back(k);
    }
  }
  deal_missing(ids, missing, shares);
  for (auto& share : shares) std::sort(share.compute.begin(), share.compute.end());
}

/// Assigns this rank its own slices.
void AccessPlan::own_share(std::span<const std::int64_t> ids, Share& share) {
  const auto slices = slices_of(plan_, std::ssize(ids));
  std::vector<std::int64_t> chunks;
  for (std::int64_t k = slices.front().first; k < slices.back().second; ++k) {
    const std::int64_t id = ids[k];
    share.compute.push_back(k);
    if (holder_[id] >= 0) continue;
    share.missing.push_back(id);
    chunks.push_back(chunk_of_(id).first);
  }
  std::sort(chunks.begin(), chunks.end());
  share.reads = std::unique(chunks.begin(), chunks.end()) - chunks.begin();
}

/// Inserts a sample into a rank's buffer, or updates its key.
void AccessPlan::put(int rank, std::int64_t id) {
  auto& buffer = buffers_[rank];
  const auto k = static_cast<std::size_t>(id);
  const bool held = holder_[k] == rank;
  if (held && (options_.keep == Keep::newest || options_.keep == Keep::first)) return;
  if (held) buffer.erase({key_[k], id});
  key_[k] = key_of(id);
  holder_[k] = rank;
  buffer.emplace(key_[k], id);
}

/// Adds the neighbours read along by a rank and evicts samples down to the buffer's capacity.
void AccessPlan::finish(int rank, const Share& share) {
  std::vector<std::int64_t> neighbours;
  for (const auto id : share.missing) {
    const auto [first, last] = chunk_of_(id);
    for (std::int64_t other = first; last - first > 1 && other < last; ++other)
      if (holder_[other] < 0) put(rank, other), neighbours.push_back(other);
  }
  std::sort(neighbours.begin(), neighbours.end());
  auto& buffer = buffers_[rank];
  while (std::ssize(buffer) > options_.capacity) {
    const std::int64_t id = buffer.rbegin()->second;
    buffer.erase(std::prev(buffer.end()));
    holder_[id] = -1;
    const bool never_held = std::binary_search(neighbours.begin(), neighbours.end(), id);
    if (rank == plan_.rank && !never_held) step_.drop.push_back(id);
  }
  if (rank != plan_.rank) return;
  step_.read = share.missing;
  std::sort(step_.read.begin(), step_.read.end());
  for (const auto id : neighbours)
    if (holder_[id] == rank) step_.bring.push_back(id);
}

const AccessPlan::Step& AccessPlan::advance() {
  const std::int64_t epoch = plan_.epoch_of(next_step_);
  if (epoch != epoch_) begin_epoch(epoch);
  const auto ids = batch_of(plan_, order_, next_step_);
  step_ = {};
  step_.step = next_step_;
  step_.batch = std::ssize(ids);
  step_.reads.assign(plan_.ranks, 0);
  now_ =
      static_cast<Position>(epoch_ * plan_.samples + next_step_ % plan_.steps_per_epoch() * plan_.batch + step_.batch);
  std::vector<Share> shares(plan_.ranks);
  if (remap_)
    deal(ids, shares);
  else
    own_share(ids, shares[plan_.rank]);
  const int first = remap_ ? 0 : plan_.rank, last = remap_ ? plan_.ranks : plan_.rank + 1;
  for (int rank = first; rank < last; ++rank)
    for (const auto place : shares[rank].compute) put(rank, ids[place]);
  for (int rank = first; rank < last; ++rank) {
    step_.reads[rank] = shares[rank].reads;
    finish(rank, shares[rank]);
  }
  const Share& own = shares[plan_.rank];
  for (const auto place : own.compute) step_.compute.push_back(ids[place]);
  step_.found = std::ssize(own.compute) - std::ssize(own.missing);
  ++next_step_;
  return step_;
}

}  // namespace cambium::train
