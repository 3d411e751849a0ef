#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/timing.hpp"
#include "core/train/weights/divided/sharded_model.hpp"

namespace cambium::train {

static double bound_of(const std::optional<Clip>& clip) {
  return clip && clip->value ? *clip->value : std::numeric_limits<double>::infinity();
}

/// A kept number as the optimizer sees it: scaled and bounded.
template <class T>
static auto scaled(T value, double factor, double bound) {
  using R = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const R x = static_cast<R>(value) * static_cast<R>(factor);
  return std::clamp(x, static_cast<R>(-bound), static_cast<R>(bound));
}

/// Every group in 64 leaves (or as many as ranks), each summed by one rank and all added in order on every rank: the
/// same bits whatever divides the states, if the ranks divide 64.
template <class T>
double ShardedModel::squared_norm(double factor, const Clip& clip) {
  const std::int64_t parts = parts_of(mesh_, partition_.states);
  const std::int64_t leaves = 64 % parts == 0 ? 64 : parts;
  const double bound = bound_of(clip);
  std::vector<double> table(groups_.size() * static_cast<std::size_t>(leaves), 0.0);
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    Group& g = groups_[k];
    const Interval mine = share(g, partition_.states);
    const T* values = reinterpret_cast<const T*>(gradients_shard(g));
    const std::int64_t size = g.whole.size() / leaves, first = (mine.begin - g.whole.begin) / size;
    for (std::int64_t leaf = 0; leaf < mine.size() / size; ++leaf) {
      double sums[8] = {};
      for (std::int64_t i = 0; i < size; ++i) {
        const double x = scaled(values[leaf * size + i], factor, bound);
        sums[i % 8] += x * x;
      }
      table[k * static_cast<std::size_t>(leaves) + static_cast<std::size_t>(first + leaf)] =
          ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
  }
  for (int level = 0; level < partition_.states; ++level) mesh_.along(static_cast<std::size_t>(level)).sum(table);
  double sum = 0.0;
  for (double leaf : table) sum += leaf;
  return sum;
}

/// The part of a group's gradient that this rank steps with, in float32 where bfloat16 is kept; else in place (an empty
/// block).
template <class T>
Block ShardedModel::bounded_gradient(Group& g, double factor, const std::optional<Clip>& clip, double shrink) {
  using R = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::int64_t n = g.shard->size();
  const double bound = bound_of(clip);
  T* values = reinterpret_cast<T*>(gradients_shard(g));
  Block wide;
  if constexpr (std::is_same_v<T, Bf16>) wide = Block(memory_, Held::windows, n * static_cast<std::int64_t>(sizeof(R)));
  R* out = wide ? reinterpret_cast<R*>(wide.data()) : reinterpret_cast<R*>(values);
  for (std::int64_t k = 0; k < n; ++k) {
    const R x = scaled(values[k], factor, bound);
    out[k] = shrink == 1.0 ? x : x * static_cast<R>(shrink);
  }
  return wide;
}

/// This rank's part of the weights, exact; direct ones are unpacked into `window`.
FlatBuffer ShardedModel::stepped_weights(Group& g, Block& window) {
  if (packed_) {
    window = Block(memory_, Held::windows, g.shard->size() * size_of(real_));
    to_real(weights_shard(g), share(g, partition_.states), window.data());
    return FlatBuffer::on(*g.shard, real_, window.data());
  }
  if (partition_.codecs.update == WeightCodec::none) return FlatBuffer::on(*g.shard, kept_, weights_shard(g));
  return FlatBuffer::on(*g.shard, kept_, states_.back().data() + g.states_at * size_of(kept_));
}

/// Hands out this rank's new weights, coded; the copies of all ranks change by the same messages.
void ShardedModel::publish(Group& g) {
  const auto codec = partition_.codecs.update;
  const Interval mine = share(g, partition_.states), copies = share(g, g.weights_depth);
  std::vector<float> own(static_cast<std::size_t>(mine.size())), held(own.size());
  with_kept(kept_, [&]<class T>() {
    const T* exact = reinterpret_cast<const T*>(states_.back().data()) + g.states_at;
    const T* copy = reinterpret_cast<const T*>(weights_shard(g));
    for (std::size_t k = 0; k < own.size(); ++k)
      own[k] = codec == WeightCodec::difference ? static_cast<float>(exact[k]) - static_cast<float>(copy[k])
                                                : static_cast<float>(exact[k]);
  });
  gather_coded(own, g.whole, partition_.states, g.weights_depth, codec, address_of(g, 1), wires_, "gather update",
               [&](Interval part, std::span<const float> numbers) {
                 std::byte* to = weights_of(g) + (part.begin - copies.begin) * size_of(kept_);
                 if (codec != WeightCodec::difference) return from_floats(numbers, kept_, to);
                 to_floats(to, kept_, held);
                 for (std::size_t k = 0; k < held.size(); ++k) held[k] += numbers[k];
                 from_floats(held, kept_, to);
               });
}

void ShardedModel::step_group(Group& g, Optimizer& optimizer, const FlatBuffer& gradients, double rate,
                              std::int64_t step) {
  Block window;
  auto weights = stepped_weights(g, window);
  std::vector<FlatBuffer> states;
  const std::size_t own = infos_.size() - (partition_.codecs.update != WeightCodec::none ? 1 : 0);
  for (std::size_t k = 0; k < own; ++k)
    states.push_back(
        FlatBuffer::on(*g.shard, infos_[k].dtype, states_[k].data() + g.states_at * size_of(infos_[k].dtype)));
  optimizer.step({weights, gradients, states, rate, step});
  if (!packed_) return;
  const Interval mine = share(g, partition_.states);
  changed_ += packed_->pack(reinterpret_cast<const float*>(window.data()), mine.begin, mine.end, address_.seed, step,
                            direct_->rounding == DirectParams::Rounding::nearest,
                            {weights_shard(g), static_cast<std::size_t>(kept_bytes(mine))});
}

double ShardedModel::step(Optimizer& optimizer, double factor, const std::optional<Clip>& clip, double rate,
                          std::int64_t step) {
  changed_ = 0;
  double norm = std::numeric_limits<double>::quiet_NaN(), shrink = 1.0;
  with_kept(kept_, [&]<class T>() {
    if (clip && clip->norm) {
      norm = std::sqrt(squared_norm<T>(factor, *clip));
      if (norm > *clip->norm) shrink = *clip->norm / norm;
    }
    for (auto& g : groups_) {
      const Block wide = bounded_gradient<T>(g, factor, clip, shrink);
      const auto gradients =
          FlatBuffer::on(*g.shard, real_, wide ? const_cast<std::byte*>(wide.data()) : gradients_shard(g));
      step_group(g, optimizer, gradients, rate, step);
    }
  });
  const double start = wall_seconds();
  for (auto& g : groups_) {
    if (partition_.codecs.update != WeightCodec::none)
      publish(g);
    else
      gather_kept(weights_of(g), g.whole, partition_.states, g.weights_depth, "gather update");
  }
  exposed_ += wall_seconds() - start;
  return norm;
}

}  // namespace cambium::train
