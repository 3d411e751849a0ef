#include "core/codec/choose.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace cambium::lowp {
namespace {

constexpr int block_axes = FieldShape::dimensions;
/// Larger fields are evaluated on blocks with this many values in total.
constexpr std::int64_t sampled_values = 1 << 13, block_values = 1 << 10;

template <class T>
struct SampleBlock {
  FieldShape shape;
  std::vector<T> values;
  std::array<std::int64_t, block_axes> before{};  ///< values along each axis that are included for the prediction of
                                                  ///< others

  std::int64_t judged() const {
    std::int64_t n = 1;
    for (int d = 0; d < block_axes; ++d) n *= shape.extent[d] - before[d];
    return n;
  }
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

/// With up to `before` values more along each axis, as far as the field has them.
template <class T>
SampleBlock<T> block_at(const T* field, const FieldShape& shape, std::array<std::int64_t, block_axes> first,
                        std::array<std::int64_t, block_axes> extent, std::int64_t before) {
  std::array<std::int64_t, block_axes> halo;
  for (int d = 0; d < block_axes; ++d) {
    halo[d] = std::min(before, first[d]);
    first[d] -= halo[d];
    extent[d] += halo[d];
  }
  SampleBlock<T> out{FieldShape(extent), {}, halo};
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
std::vector<SampleBlock<T>> blocks_of(const T* field, const FieldShape& shape, std::int64_t before) {
  if (judged_whole(shape)) return {block_at(field, shape, {0, 0, 0, 0}, shape.extent, 0)};
  std::vector<SampleBlock<T>> out;
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
    out.push_back(block_at(field, shape, first, extent, before));
  }
  return out;
}

template <class T>
double judged_values(const std::vector<SampleBlock<T>>& blocks) {
  std::int64_t n = 0;
  for (const auto& block : blocks) n += block.judged();
  return static_cast<double>(n);
}

/// Bits of codes by their frequencies (Shannon's entropy), those far from the middle by sixteen each. Huffman's code
/// and Zstandard come close to it, for a hundredth of the time.
double bits_of(std::span<const std::uint16_t> codes) {
  constexpr int middle = 32768, reach = 2048, whole_code = 16;
  std::vector<std::uint32_t> counts(2 * reach, 0);
  std::size_t near = 0;
  for (const int code : codes) {
    const int place = code - middle + reach;
    if (place < 0 || place >= 2 * reach) continue;
    ++counts[static_cast<std::size_t>(place)];
    ++near;
  }
  double bits = static_cast<double>(codes.size() - near) * whole_code;
  const auto all = static_cast<double>(codes.size());
  for (const auto count : counts)
    if (count > 0) bits -= count * std::log2(count / all);
  return bits;
}

/// The plan of each block, which serves all level bounds.
template <class T>
std::vector<InterpolationPlan> plans_of(const std::vector<SampleBlock<T>>& blocks, double bound) {
  std::vector<InterpolationPlan> out;
  for (const auto& block : blocks) out.emplace_back(block.values.data(), block.shape, bound);
  return out;
}

template <class T>
double interpolated_bits(const std::vector<SampleBlock<T>>& blocks, std::vector<InterpolationPlan>& plans, double bound,
                         LevelBounds levels) {
  std::vector<std::uint16_t> codes;
  double bits = 0.0;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    auto work = blocks[k].values;
    Quantized<T> quantized;
    plans[k].set_levels(levels);
    interpolate_encode(work.data(), blocks[k].shape, plans[k], bound, quantized);
    codes.insert(codes.end(), quantized.codes.begin(), quantized.codes.end());
    bits += 8.0 * sizeof(T) * static_cast<double>(quantized.exceptions.size());
  }
  return bits + bits_of(codes);
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
  double bits(const LorenzoCoding& coding) const {
    std::vector<std::uint16_t> judged;
    double bits = 0.0;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      auto steps = rounded_[k].steps;
      std::vector<std::uint16_t> codes;
      std::vector<std::uint32_t> large;
      lorenzo_codes(steps, blocks_[k].shape, coding, codes, large);
      append_judged(codes, blocks_[k], judged);
      const double share = static_cast<double>(blocks_[k].judged()) / static_cast<double>(codes.size());
      bits += share * 8.0 * (sizeof(T) + sizeof(std::uint64_t)) * static_cast<double>(rounded_[k].values.size());
    }
    const auto large = std::count(judged.begin(), judged.end(), std::uint16_t{0});
    return bits + 8.0 * sizeof(std::uint32_t) * static_cast<double>(large) + bits_of(judged);
  }

 private:
  static void append_judged(const std::vector<std::uint16_t>& codes, const SampleBlock<T>& block,
                            std::vector<std::uint16_t>& out) {
    const auto& n = block.shape.extent;
    const auto& from = block.before;
    for (std::int64_t a = from[0]; a < n[0]; ++a)
      for (std::int64_t b = from[1]; b < n[1]; ++b)
        for (std::int64_t c = from[2]; c < n[2]; ++c) {
          const auto row = codes.begin() + ((a * n[1] + b) * n[2] + c) * n[3];
          out.insert(out.end(), row + from[3], row + n[3]);
        }
  }

  const std::vector<SampleBlock<T>>& blocks_;
  double bound_;
  std::vector<Rounded<T>> rounded_;
};

/// Only forms that promise this gain are tried on the entire field.
constexpr double clearly = 0.99;

bool shorter(double one, double other) { return one < clearly * other; }

}  // namespace

bool judged_whole(const FieldShape& shape) { return shape.elements <= sampled_values; }

template <class T>
Choice<LevelBounds> choose_level_bounds(const T* field, const FieldShape& shape, double bound) {
  const auto blocks = blocks_of(field, shape, 0);
  auto plans = plans_of(blocks, bound);
  LevelBounds best;
  const double usual = interpolated_bits(blocks, plans, bound, best);
  double least = usual;
  for (std::uint8_t choice = 1; choice < LevelBounds::with_anchors; ++choice) {
    const double bits = interpolated_bits(blocks, plans, bound, {choice});
    if (!shorter(bits, least)) continue;
    least = bits;
    best.choice = choice;
  }
  const double n = judged_values(blocks);
  return {best, least / n, usual / n};
}

template <class T>
Choice<LorenzoCoding> choose_differences(const T* field, const FieldShape& shape, double bound) {
  const auto blocks = blocks_of(field, shape, LorenzoCoding::most_order);
  Differences<T> differences(blocks, bound);
  LorenzoCoding best;
  const double usual = differences.bits(best);
  double least = usual;
  const auto attempt = [&](const LorenzoCoding& coding) {
    const double bits = differences.bits(coding);
    if (!shorter(bits, least)) return;
    least = bits;
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
  // Exact zeros stay exact.
  const bool with_zeros = std::find(field, field + shape.elements, T(0)) != field + shape.elements;
  for (std::uint8_t shift = 1; shift < LorenzoCoding::shifts && !with_zeros; ++shift) {
    differences.round(shift);
    auto coding = best;
    coding.shift = shift;
    attempt(coding);
  }
  const double n = judged_values(blocks);
  return {best, least / n, usual / n};
}

#define CAMBIUM_CHOOSE_OF(T)                                                                \
  template Choice<LevelBounds> choose_level_bounds<T>(const T*, const FieldShape&, double); \
  template Choice<LorenzoCoding> choose_differences<T>(const T*, const FieldShape&, double);
CAMBIUM_CHOOSE_OF(float)
CAMBIUM_CHOOSE_OF(double)
#undef CAMBIUM_CHOOSE_OF

}  // namespace cambium::lowp
