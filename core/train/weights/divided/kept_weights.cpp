#include <algorithm>
#include <bit>

#include "core/train/weights/divided/sharded_model.hpp"

namespace cambium::train {

std::int64_t ShardedModel::kept_bytes(Interval part) const {
  return packed_ ? packed_->byte_of(part.end) - packed_->byte_of(part.begin) : part.size() * size_of(kept_);
}

/// Weights as they are kept, in the network's precision.
void ShardedModel::to_real(const std::byte* from, Interval part, std::byte* to) const {
  if (packed_)
    return packed_->unpack({from, static_cast<std::size_t>(kept_bytes(part))}, part.begin, part.end,
                           reinterpret_cast<float*>(to));
  if (kept_ == real_) {
    std::copy_n(from, kept_bytes(part), to);
    return;
  }
  for (std::int64_t k = 0; k < part.size(); ++k)
    reinterpret_cast<float*>(to)[k] = static_cast<float>(reinterpret_cast<const Bf16*>(from)[k]);
}

/// Upper halves where bfloat16 is kept: split weights lose nothing more. On grids the nearest, which those that lie
/// there are already.
void ShardedModel::to_kept(const std::byte* from, Interval part, std::byte* to) const {
  if (packed_) {
    packed_->pack(reinterpret_cast<const float*>(from), part.begin, part.end, 0, 0, true,
                  {to, static_cast<std::size_t>(kept_bytes(part))});
    return;
  }
  if (kept_ == real_) {
    std::copy_n(from, kept_bytes(part), to);
    return;
  }
  for (std::int64_t k = 0; k < part.size(); ++k)
    reinterpret_cast<Bf16*>(to)[k].bits =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(reinterpret_cast<const float*>(from)[k]) >> 16);
}

/// As gather_levels() does, whatever the weights are kept in.
void ShardedModel::gather_kept(std::byte* values, Interval whole, int from, int to, std::string_view what) {
  if (packed_)
    gather_packed(
        values, whole, from, to, [this](std::int64_t e) { return packed_->byte_of(e); }, wires_, what);
  else
    gather_levels(values, whole, from, to, kept_, wires_, what);
}

/// Puts this rank's part where it belongs among all.
void ShardedModel::put_kept(const std::byte* mine, Interval whole, int depth, std::byte* together) const {
  const Interval part = share_of(mesh_, whole, depth);
  std::copy_n(mine, kept_bytes(part), together + kept_bytes({whole.begin, part.begin}));
}

double ShardedModel::over_parts(double count) const {
  double sum[] = {count};
  for (int level = 0; level < partition_.states; ++level)
    mesh_.along(static_cast<std::size_t>(level)).sum(std::span<double>(sum));
  return sum[0];
}

}  // namespace cambium::train
