#include <algorithm>

#include "core/train/shard/sharded_model.hpp"

namespace cambium::train {

std::int64_t ShardedModel::states_shards() const {
  std::int64_t n = 0;
  for (const auto& g : groups_) n += g.shard->size();
  return n;
}

WholeCopy ShardedModel::make_copy(DType dtype) {
  Counted counted(memory_, Held::copies, layout_->size() * size_of(dtype));
  return {FlatBuffer(*layout_, dtype), std::move(counted)};
}

/// Puts numbers that are divided over `depth` levels together, group by group.
static void together(const std::byte* mine, Interval whole, int depth, DType dtype, std::byte* into, const Wires& wires) {
  const Interval share = share_of(wires.mesh, whole, depth);
  std::copy_n(mine, share.size() * size_of(dtype), into + (share.begin - whole.begin) * size_of(dtype));
  gather_levels(into, whole, depth, 0, dtype, wires, "whole copies");
}

static void to_real(const std::byte* from, DType kept, std::byte* to, DType real, std::int64_t n) {
  if (kept == real) {
    std::copy_n(from, n * size_of(kept), to);
    return;
  }
  for (std::int64_t k = 0; k < n; ++k) reinterpret_cast<float*>(to)[k] = static_cast<float>(reinterpret_cast<const Bf16*>(from)[k]);
}

/// Upper halves where bfloat16 is kept: split weights lose nothing more.
static void to_kept(const std::byte* from, DType real, std::byte* to, DType kept, std::int64_t n) {
  if (kept == real) {
    std::copy_n(from, n * size_of(kept), to);
    return;
  }
  for (std::int64_t k = 0; k < n; ++k)
    reinterpret_cast<Bf16*>(to)[k].bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(reinterpret_cast<const float*>(from)[k]) >> 16);
}

WholeCopy ShardedModel::whole_of(DType dtype, const std::function<void(Group&, std::byte* into)>& gather) {
  auto copy = make_copy(dtype);
  for (auto& g : groups_)
    gather(g, reinterpret_cast<std::byte*>(copy.numbers.values<std::uint8_t>().data()) + g.whole.begin * size_of(dtype));
  return copy;
}

WholeCopy ShardedModel::whole_weights() {
  return whole_of(real_, [&](Group& g, std::byte* into) {
    Block kept(memory_, Held::copies, g.whole.size() * size_of(kept_));
    together(weights_of(g), g.whole, g.weights_depth, kept_, kept.data(), wires_);
    to_real(kept.data(), kept_, into, real_, g.whole.size());
  });
}

WholeCopy ShardedModel::whole_state(std::size_t k) {
  const DType dtype = infos_[k].dtype;
  return whole_of(dtype, [&](Group& g, std::byte* into) {
    together(states_[k].data() + g.states_at * size_of(dtype), g.whole, partition_.states, dtype, into, wires_);
  });
}

WholeCopy ShardedModel::whole_best() {
  return whole_of(real_, [&](Group& g, std::byte* into) {
    Block kept(memory_, Held::copies, g.whole.size() * size_of(kept_));
    together(best_.data() + g.states_at * size_of(kept_), g.whole, partition_.states, kept_, kept.data(), wires_);
    to_real(kept.data(), kept_, into, real_, g.whole.size());
  });
}

static const std::byte* bytes_of(const FlatBuffer& whole, std::int64_t element) {
  return reinterpret_cast<const std::byte*>(whole.values<std::uint8_t>().data()) + element * size_of(whole.dtype());
}

void ShardedModel::take_weights(const FlatBuffer& whole) {
  for (auto& g : groups_) {
    const Interval mine = share(g, g.weights_depth);
    to_kept(bytes_of(whole, mine.begin), real_, weights_of(g), kept_, mine.size());
  }
}

void ShardedModel::take_state(std::size_t k, const FlatBuffer& whole) {
  const std::int64_t size = size_of(infos_[k].dtype);
  for (auto& g : groups_) {
    const Interval mine = share(g, partition_.states);
    std::copy_n(bytes_of(whole, mine.begin), mine.size() * size, states_[k].data() + g.states_at * size);
  }
}

/// best_ has the order of the states, in the precision of kept weights.
void ShardedModel::take_best(const FlatBuffer& whole) {
  if (!best_) best_ = Block(memory_, Held::copies, states_shards() * size_of(kept_));
  for (auto& g : groups_) {
    const Interval mine = share(g, partition_.states);
    to_kept(bytes_of(whole, mine.begin), real_, best_.data() + g.states_at * size_of(kept_), kept_, mine.size());
  }
}

void ShardedModel::keep_best() {
  if (!best_) best_ = Block(memory_, Held::copies, states_shards() * size_of(kept_));
  for (auto& g : groups_)
    std::copy_n(weights_shard(g), g.shard->size() * size_of(kept_), best_.data() + g.states_at * size_of(kept_));
}

/// The first weights may be cut by the optimizer (split weights), which also fills states from them.
void ShardedModel::start(const FlatBuffer& whole, Optimizer& optimizer) {
  take_weights(whole);
  for (auto& g : groups_) {
    const Interval mine = share(g, partition_.states);
    Block own(memory_, Held::copies, mine.size() * size_of(real_));
    std::copy_n(bytes_of(whole, mine.begin), mine.size() * size_of(real_), own.data());
    if (partition_.codecs.update != WeightCodec::none) std::copy_n(own.data(), own.bytes(), states_.back().data() + g.states_at * size_of(real_));
    auto weights = FlatBuffer::on(*g.shard, real_, own.data());
    std::vector<FlatBuffer> states;
    for (std::size_t k = 0; k < infos_.size(); ++k)
      states.push_back(FlatBuffer::on(*g.shard, infos_[k].dtype, states_[k].data() + g.states_at * size_of(infos_[k].dtype)));
    optimizer.start(weights, states);
    to_kept(own.data(), real_, weights_shard(g), kept_, mine.size());
    gather_levels(weights_of(g), g.whole, partition_.states, g.weights_depth, kept_, wires_, "whole copies");
  }
}

}  // namespace cambium::train
