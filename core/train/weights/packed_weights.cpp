#include "core/train/weights/packed_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/error.hpp"

namespace cambium::train {

PackedWeights::PackedWeights(const FlatLayout& layout, const Grid& grid)
    : layout_(layout), grids_(layout.tensors().size(), grid) {
  const auto& tensors = layout.tensors();
  order_.resize(tensors.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(),
            [&](std::size_t a, std::size_t b) { return tensors[a].offset < tensors[b].offset; });
  std::int64_t bytes = 0;
  for (std::size_t k : order_) {
    first_.push_back(bytes);
    bytes += tensor_bytes(k, tensors[k].elements);
    if (tensors[k].info.linear) linear_numbers_ += tensors[k].elements;
  }
  first_.push_back(bytes);
}

std::int64_t PackedWeights::tensor_bytes(std::size_t k, std::int64_t n) const {
  return layout_.tensors()[k].info.linear ? grids_[k].bytes(n) : 4 * n;
}

std::int64_t PackedWeights::byte_of(std::int64_t element) const {
  const auto& tensors = layout_.tensors();
  const auto after = std::upper_bound(order_.begin(), order_.end(), element,
                                      [&](std::int64_t e, std::size_t k) { return e < tensors[k].offset; });
  if (after == order_.begin()) return 0;
  const auto place = static_cast<std::size_t>(after - order_.begin()) - 1;
  const std::size_t k = order_[place];
  const std::int64_t within = element - tensors[k].offset;
  if (within >= tensors[k].elements) return first_[place + 1];
  if (within % 4 != 0) throw InternalError("packed weights are partitioned at multiples of four");
  return first_[place] + tensor_bytes(k, within);
}

template <class F>
void PackedWeights::each_piece(std::int64_t begin, std::int64_t end, F&& f) const {
  const auto& tensors = layout_.tensors();
  const std::int64_t base = byte_of(begin);
  for (std::size_t k : order_) {
    const auto& t = tensors[k];
    const std::int64_t from = std::max(begin, t.offset), to = std::min(end, t.offset + t.elements);
    if (from >= to) continue;
    f(Piece{k, from - t.offset, from - begin, to - from, static_cast<std::size_t>(byte_of(from) - base),
            static_cast<std::size_t>(tensor_bytes(k, to - from))});
  }
}

void PackedWeights::fix_grids(const FlatBuffer& whole, double range) {
  for (std::size_t k = 0; k < grids_.size(); ++k) fix_grid(k, whole.values<float>(k), range);
}

void PackedWeights::fix_grid(std::size_t k, std::span<const float> values, double range) {
  double sum = 0.0;
  for (float w : values) sum += std::abs(static_cast<double>(w));
  const double mean = sum / static_cast<double>(values.size());
  grids_[k].step = static_cast<float>(grids_[k].ternary() ? mean : range * mean / grids_[k].limit);
}

std::vector<double> PackedWeights::steps() const {
  std::vector<double> out;
  for (std::size_t k = 0; k < grids_.size(); ++k)
    if (layout_.tensors()[k].info.linear) out.push_back(static_cast<double>(grids_[k].step));
  return out;
}

void PackedWeights::set_steps(std::span<const double> steps) {
  std::size_t next = 0;
  for (std::size_t k = 0; k < grids_.size(); ++k)
    if (layout_.tensors()[k].info.linear) grids_[k].step = static_cast<float>(steps[next++]);
}

void PackedWeights::unpack(std::span<const std::byte> from, std::int64_t begin, std::int64_t end, float* to) const {
  std::fill_n(to, end - begin, 0.0f);
  each_piece(begin, end, [&](const Piece& p) {
    const auto bytes = from.subspan(p.byte, p.bytes);
    if (layout_.tensors()[p.tensor].info.linear)
      unpack_grid(grids_[p.tensor], bytes, {to + p.begin, static_cast<std::size_t>(p.count)});
    else
      std::memcpy(to + p.begin, bytes.data(), p.bytes);
  });
}

std::int64_t PackedWeights::pack(const float* from, std::int64_t begin, std::int64_t end, std::uint64_t seed,
                                 std::int64_t step, bool nearest, std::span<std::byte> to) const {
  std::int64_t changed = 0;
  each_piece(begin, end, [&](const Piece& p) {
    const auto bytes = to.subspan(p.byte, p.bytes);
    const lowp::RoundingAddress address{seed, p.tensor, static_cast<std::uint64_t>(step), p.first};
    if (layout_.tensors()[p.tensor].info.linear)
      changed += round_onto_grid(grids_[p.tensor], {from + p.begin, static_cast<std::size_t>(p.count)}, address,
                                 nearest, bytes);
    else
      std::memcpy(bytes.data(), from + p.begin, p.bytes);
  });
  return changed;
}

}  // namespace cambium::train
