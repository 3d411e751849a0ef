#include <algorithm>

#include "core/train/weights/divided/sharded_model.hpp"

namespace cambium::train {

std::int64_t ShardedModel::best_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& g : groups_) bytes += kept_bytes(share(g, partition_.states));
  return bytes;
}

WholeCopy ShardedModel::make_copy(DType dtype) {
  Counted counted(memory_, Held::copies, layout_->size() * size_of(dtype));
  return {FlatBuffer(*layout_, dtype), std::move(counted)};
}

/// Puts numbers that are divided over `depth` levels together, group by group.
static void together(const std::byte* mine, Interval whole, int depth, DType dtype, std::byte* into,
                     const Wires& wires) {
  const Interval share = share_of(wires.mesh, whole, depth);
  std::copy_n(mine, share.size() * size_of(dtype), into + (share.begin - whole.begin) * size_of(dtype));
  gather_levels(into, whole, depth, 0, dtype, wires, "whole copies");
}

WholeCopy ShardedModel::whole_of(DType dtype, const std::function<void(Group&, std::byte* into)>& gather) {
  auto copy = make_copy(dtype);
  for (auto& g : groups_)
    gather(g,
           reinterpret_cast<std::byte*>(copy.numbers.values<std::uint8_t>().data()) + g.whole.begin * size_of(dtype));
  return copy;
}

WholeCopy ShardedModel::whole_weights() {
  return whole_of(real_, [&](Group& g, std::byte* into) {
    Block kept(memory_, Held::copies, kept_bytes(g.whole));
    put_kept(weights_of(g), g.whole, g.weights_depth, kept.data());
    gather_kept(kept.data(), g.whole, g.weights_depth, 0, "whole copies");
    to_real(kept.data(), g.whole, into);
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
    Block kept(memory_, Held::copies, kept_bytes(g.whole));
    put_kept(best_.data() + g.best_at, g.whole, partition_.states, kept.data());
    gather_kept(kept.data(), g.whole, partition_.states, 0, "whole copies");
    to_real(kept.data(), g.whole, into);
  });
}

static const std::byte* bytes_of(const FlatBuffer& whole, std::int64_t element) {
  return reinterpret_cast<const std::byte*>(whole.values<std::uint8_t>().data()) + element * size_of(whole.dtype());
}

void ShardedModel::take_weights(const FlatBuffer& whole) {
  for (auto& g : groups_) {
    const Interval mine = share(g, g.weights_depth);
    to_kept(bytes_of(whole, mine.begin), mine, weights_of(g));
  }
}

void ShardedModel::take_state(std::size_t k, const FlatBuffer& whole) {
  const std::int64_t size = size_of(infos_[k].dtype);
  for (auto& g : groups_) {
    const Interval mine = share(g, partition_.states);
    std::copy_n(bytes_of(whole, mine.begin), mine.size() * size, states_[k].data() + g.states_at * size);
  }
}

/// best_ has the order of the states, kept like weights.
void ShardedModel::take_best(const FlatBuffer& whole) {
  if (!best_) best_ = Block(memory_, Held::copies, best_bytes());
  for (auto& g : groups_) {
    const Interval mine = share(g, partition_.states);
    to_kept(bytes_of(whole, mine.begin), mine, best_.data() + g.best_at);
  }
}

void ShardedModel::keep_best() {
  if (!best_) best_ = Block(memory_, Held::copies, best_bytes());
  for (auto& g : groups_)
    std::copy_n(weights_shard(g), kept_bytes(share(g, partition_.states)), best_.data() + g.best_at);
}

/// The first weights may be cut by the optimizer (split weights), which also fills states from them; direct ones set
/// their grids.
void ShardedModel::start(const FlatBuffer& whole, Optimizer& optimizer) {
  if (packed_) packed_->fix_grids(whole, direct_->range);
  take_weights(whole);
  if (packed_) return;
  for (auto& g : groups_) {
    const Interval mine = share(g, partition_.states);
    Block own(memory_, Held::copies, mine.size() * size_of(real_));
    std::copy_n(bytes_of(whole, mine.begin), mine.size() * size_of(real_), own.data());
    if (partition_.codecs.update != WeightCodec::none)
      std::copy_n(own.data(), own.bytes(), states_.back().data() + g.states_at * size_of(real_));
    auto weights = FlatBuffer::on(*g.shard, real_, own.data());
    std::vector<FlatBuffer> states;
    for (std::size_t k = 0; k < infos_.size(); ++k)
      states.push_back(
          FlatBuffer::on(*g.shard, infos_[k].dtype, states_[k].data() + g.states_at * size_of(infos_[k].dtype)));
    optimizer.start(weights, states);
    to_kept(own.data(), mine, weights_shard(g));
    gather_kept(weights_of(g), g.whole, partition_.states, g.weights_depth, "whole copies");
  }
}

}  // namespace cambium::train
