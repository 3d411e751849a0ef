#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/lowp/groups.hpp"
#include "core/lowp/message.hpp"
#include "core/train/weights/divided/level_exchange.hpp"

namespace cambium::train {

/// Encoding of weights in messages. `difference` sends, in 4 bits and groups of 2048, the difference between a rank's
/// own float32 weights and the copies on all ranks, and adds it to the copies: rounding errors are sent again with the
/// next step (SDP4Bit, Jia et al., NeurIPS 2024). The others send the weights themselves; int4 also in groups of 2048.
enum class WeightCodec { none, bf16, int8, int4, difference };

/// Bytes of n weights in one message.
std::int64_t message_bytes(WeightCodec codec, std::int64_t n);

/// Codecs of a sharded model.
struct Codecs {
  std::vector<lowp::WireCodec> gradients;  ///< by level of the mesh; empty for none
  WeightCodec update = WeightCodec::none;  ///< new weights, after the step
  WeightCodec gather = WeightCodec::none;  ///< sharded weights, before a module is used; never `difference`
  bool reduces() const;                    ///< any level encodes gradients
  bool any() const { return reduces() || update != WeightCodec::none || gather != WeightCodec::none; }
};

/// InputError if the codecs are incompatible with split optimizers, direct weights or ordered sums.
void require_codecs(const Codecs& codecs, bool splits, bool direct, bool ordered);

/// Encoded reduce-scatter over the ranks of levels [from, to): in each level a rank sends every other its part, and the
/// parts are decoded and added in the order of coordinates. With int4 in any of these levels, all happens after one
/// randomised Hadamard transform, undone once at the end. `values` begins at share_of(whole, from); parts are multiples
/// of lowp::wire_piece. `address.tensor` identifies the array; rounding differs between ranks and levels.
void reduce_coded(std::byte* values, Interval whole, int from, int to, DType dtype,
                  std::span<const lowp::WireCodec> codecs, lowp::RoundingAddress address, const Wires& wires);

/// Encoded all-gather over levels [to, from): `own` is share_of(whole, from) in float32, and take(part, numbers)
/// receives every part, including this rank's own, decoded from the same message on every rank.
using TakePart = std::function<void(Interval part, std::span<const float> numbers)>;
void gather_coded(std::span<const float> own, Interval whole, int from, int to, WeightCodec codec,
                  lowp::RoundingAddress address, const Wires& wires, std::string_view what, const TakePart& take);

/// Converts values from storage precision (float64, float32, bfloat16) to float32, and back.
void to_floats(const std::byte* from, DType dtype, std::span<float> to);
void from_floats(std::span<const float> from, DType dtype, std::byte* to);

}  // namespace cambium::train
