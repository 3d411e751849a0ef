#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/bytes.hpp"
#include "core/codec/fields/scaled_field.hpp"

namespace cambium::lowp {

/// Convolution over the nearest neighbours (3 along every dimension) to eight channels, a leaky ReLU of slope 0.1, and
/// a sum of the channels. Differences enter as fractions of eight bounds, clipped to [-1, 1].
class HiddenLayer {
 public:
  static constexpr int channels = ScaledField::lanes;

  /// Weights of every tap (the middle one holds the constants) to every channel, [taps][channels], then of the channels
  /// to the result; rounded to steps of a 127th of the largest.
  HiddenLayer(std::span<const float> to_channels, std::span<const float> to_result);

  int taps() const { return static_cast<int>(to_channels_.size()) / channels; }
  void put(ByteWriter& out) const;
  /// Throws DamagedStream.
  static HiddenLayer from(ByteReader& in);

  /// Correction of the value at `place`, in units of the bound. `offsets`: offsets of the taps from the middle.
  float operator()(const float* place, std::span<const std::int64_t> offsets) const;

  /// Input of the layer for a difference.
  static float input(float difference) {
    const float share = difference * 0.125f;
    return share > 1.0f ? 1.0f : share < -1.0f ? -1.0f : share;
  }
  static float rectified(float x) { return x > 0.0f ? x : 0.1f * x; }

 private:
  HiddenLayer() = default;
  void expand();

  float scale_in_ = 0.0f, scale_out_ = 0.0f;
  std::vector<std::int8_t> to_channels_, to_result_;
  std::vector<float> in_, out_;  ///< the same times their scales
};

/// Offsets of the taps of reach 1 around a value of `field`, whose own reach may be larger.
std::vector<std::int64_t> nearest_taps(const ScaledField& field);

}  // namespace cambium::lowp
