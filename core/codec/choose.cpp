#include "core/codec/choose.hpp"

#include <algorithm>
#include <cmath>

#include "core/codec/huffman.hpp"
#include "core/codec/packed.hpp"

namespace cambium::lowp {
namespace {

constexpr int block_axes = FieldShape::dimensions;
/// Fields of more values are judged by blocks with as many together.
constexpr std::int64_t sampled_values = 1 << 15, block_values = 1 << 12;

template <class T>
struct SampleBlock {
  FieldShape shape;
  std::vector<T> values;
};

/// Extents of about equal length, none longer than the field's, of at most `values` values.
std::array<std::int64_t, block_axes> block_extent(const FieldShape& shape, std::int64_t values) {
  auto order = std::array<int, block_axes>{0, 1, 2, 3};
  std::sort(order.begin(), order.end(), [&](int a, int b) { return shape.extent[a] < shape.extent[b]; });
  std::array<std::int64_t, block_axes> out{};
  auto left = static_cast<double>(values);
  for (int k = 0; k < block_axes; ++k) {
    const auto edge = static_cast<std::int64_t>(std::pow(left, 1.0 / (block_axes - k)));
    out[order[k]] = std::clamp<std::int64_t>(edge, 1, shape.extent[order[k]]);
    left /= static_cast<double>(out[order[k]]);
  }
  return out;
}

template <class T>
SampleBlock<T> block_at(const T* field, const FieldShape& shape, const std::array<std::int64_t, block_axes>& first,
                        const std::array<std::int64_t, block_axes>& extent) {
  SampleBlock<T> out{FieldShape(extent), {}};
  for (std::int64_t a = 0; a < extent[0]; ++a)
    for (std::int64_t b = 0; b < extent[1]; ++b)
      for (std::int64_t c = 0; c < extent[2]; ++c) {
        const T* row = field + (first[0] + a) * shape.stride[0] + (first[1] + b) * shape.stride[1] +
                       (first[2] + c) * shape.stride[2] + first[3];
        out.values.insert(out.values.end(), row, row + extent[3]);
      }
  return out;
}

template <class T>
std::vector<SampleBlock<T>> blocks_of(const T* field, const FieldShape& shape) {
  std::vector<SampleBlock<T>> out;
  if (shape.elements <= sampled_values) {
    out.push_back(block_at(field, shape, {0, 0, 0, 0}, shape.extent));
    return out;
  }
  const auto extent = block_extent(shape, block_values);
  constexpr auto blocks = sampled_values / block_values;
  constexpr double golden[block_axes] = {0.8191725, 0.6710436, 0.5497005,
                                         0.4503088};  // steps of a low-discrepancy sequence
  for (std::int64_t k = 0; k < blocks; ++k) {
    std::array<std::int64_t, block_axes> first;
    for (int d = 0; d < block_axes; ++d) {
      const double at = std::fmod(0.5 + static_cast<double>(k) * golden[d], 1.0);
      first[d] = static_cast<std::int64_t>(at * static_cast<double>(shape.extent[d] - extent[d] + 1));
    }
    out.push_back(block_at(field, shape, first, extent));
  }
  return out;
}

std::size_t packed_size(ByteWriter& out, std::span<const std::uint16_t> codes) {
  huffman_encode(codes, out);
  return pack(out.bytes(), {}).size();
}

template <class T>
std::size_t interpolated_size(const std::vector<SampleBlock<T>>& blocks, double bound, LevelBounds levels) {
  ByteWriter out;
  Quantized<T> all;
  for (const auto& block : blocks) {
    auto work = block.values;
    const InterpolationPlan plan(work.data(), block.shape, bound, levels);
    Quantized<T> quantized;
    interpolate_encode(work.data(), block.shape, plan, bound, quantized);
    all.codes.insert(all.codes.end(), quantized.codes.begin(), quantized.codes.end());
    all.exceptions.insert(all.exceptions.end(), quantized.exceptions.begin(), quantized.exceptions.end());
  }
  out.put_list(all.exceptions);
  return packed_size(out, all.codes);
}

template <class T>
class Differences {
 public:
  Differences(const std::vector<SampleBlock<T>>& blocks, double bound) : blocks_(blocks), bound_(bound) { round(0); }

  void round(int shift) {
    rounded_.clear();
    for (const auto& block : blocks_)
      rounded_.push_back(round_to_steps(block.values.data(), block.shape.elements, bound_, shift));
  }
  std::size_t size(const LorenzoCoding& coding) const {
    ByteWriter out;
    std::vector<std::uint16_t> codes;
    std::vector<std::uint32_t> large;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      auto steps = rounded_[k].steps;
      lorenzo_codes(steps, blocks_[k].shape, coding, codes, large);
      out.put_list(rounded_[k].places);
      out.put_list(rounded_[k].values);
    }
    out.put_list(large);
    return packed_size(out, codes);
  }

 private:
  const std::vector<SampleBlock<T>>& blocks_;
  double bound_;
  std::vector<Rounded<T>> rounded_;
};

/// A wish for a shorter stream on blocks alone must be clear: the field as a whole may differ a little.
constexpr double clearly = 0.995;

bool shorter(std::size_t one, std::size_t other) {
  return static_cast<double>(one) < clearly * static_cast<double>(other);
}

}  // namespace

template <class T>
LevelBounds choose_level_bounds(const T* field, const FieldShape& shape, double bound) {
  const auto blocks = blocks_of(field, shape);
  LevelBounds best;
  std::size_t least = interpolated_size(blocks, bound, best);
  for (std::uint8_t choice = 1; choice < LevelBounds::with_anchors; ++choice) {
    const auto size = interpolated_size(blocks, bound, {choice});
    if (!shorter(size, least)) continue;
    least = size;
    best.choice = choice;
  }
  return best;
}

template <class T>
LorenzoCoding choose_differences(const T* field, const FieldShape& shape, double bound) {
  const auto blocks = blocks_of(field, shape);
  Differences<T> differences(blocks, bound);
  LorenzoCoding best;
  std::size_t least = differences.size(best);
  const auto attempt = [&](const LorenzoCoding& coding) {
    const auto size = differences.size(coding);
    if (!shorter(size, least)) return;
    least = size;
    best = coding;
  };
  for (const std::uint8_t order : {0, 2}) attempt({{order, order, order, order}, 0});
  for (int d = 0; d < block_axes; ++d) {
    if (shape.extent[d] < 2) continue;
    for (std::uint8_t order = 0; order <= LorenzoCoding::most_order; ++order) {
      auto coding = best;
      coding.order[d] = order;
      if (coding != best) attempt(coding);
    }
  }
  // What is exactly zero stays so.
  if (std::find(field, field + shape.elements, T(0)) != field + shape.elements) return best;
  for (std::uint8_t shift = 1; shift < LorenzoCoding::shifts; ++shift) {
    differences.round(shift);
    auto coding = best;
    coding.shift = shift;
    attempt(coding);
  }
  return best;
}

#define CAMBIUM_CHOOSE_OF(T)                                                        \
  template LevelBounds choose_level_bounds<T>(const T*, const FieldShape&, double); \
  template LorenzoCoding choose_differences<T>(const T*, const FieldShape&, double);
CAMBIUM_CHOOSE_OF(float)
CAMBIUM_CHOOSE_OF(double)
#undef CAMBIUM_CHOOSE_OF

}  // namespace cambium::lowp
