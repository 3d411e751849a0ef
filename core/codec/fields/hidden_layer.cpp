#include "core/codec/fields/hidden_layer.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::lowp {
namespace {

std::vector<std::int8_t> in_steps(std::span<const float> weights, float& scale) {
  float largest = 0.0f;
  for (float w : weights) largest = std::max(largest, std::abs(w));
  scale = largest / 127.0f;
  std::vector<std::int8_t> out;
  for (float w : weights)
    out.push_back(scale > 0.0f ? static_cast<std::int8_t>(std::lround(w / scale)) : std::int8_t{0});
  return out;
}

std::vector<std::int8_t> take(ByteReader& in, std::size_t n) {
  std::vector<std::int8_t> out;
  for (auto byte : in.next(n)) out.push_back(static_cast<std::int8_t>(byte));
  return out;
}

}  // namespace

HiddenLayer::HiddenLayer(std::span<const float> to_channels, std::span<const float> to_result)
    : to_channels_(in_steps(to_channels, scale_in_)), to_result_(in_steps(to_result, scale_out_)) {
  expand();
}

void HiddenLayer::expand() {
  for (auto w : to_channels_) in_.push_back(scale_in_ * static_cast<float>(w));
  for (auto w : to_result_) out_.push_back(scale_out_ * static_cast<float>(w));
}

void HiddenLayer::put(ByteWriter& out) const {
  out.put<std::uint8_t>(static_cast<std::uint8_t>(taps()));
  out.put(scale_in_);
  out.put(std::span<const std::int8_t>(to_channels_));
  out.put(scale_out_);
  out.put(std::span<const std::int8_t>(to_result_));
}

HiddenLayer HiddenLayer::from(ByteReader& in) {
  HiddenLayer layer;
  const std::size_t taps = in.get<std::uint8_t>();
  layer.scale_in_ = in.get<float>();
  layer.to_channels_ = take(in, taps * channels);
  layer.scale_out_ = in.get<float>();
  layer.to_result_ = take(in, channels);
  layer.expand();
  return layer;
}

float HiddenLayer::operator()(const float* place, std::span<const std::int64_t> offsets) const {
  float sum[channels];
  const float* w = in_.data();
  const float middle = *place;
  std::copy_n(w + offsets.size() / 2 * channels, channels, sum);
  for (const auto offset : offsets) {
    // The middle's own difference is zero: its weights are the constants, taken above.
    const float x = input(place[offset] - middle);
    for (int c = 0; c < channels; ++c) sum[c] += w[c] * x;
    w += channels;
  }
  float out = 0.0f;
  for (int c = 0; c < channels; ++c) out += out_[c] * rectified(sum[c]);
  return out;
}

std::vector<std::int64_t> nearest_taps(const ScaledField& field) {
  const int half = field.row_length() / 2, along = std::min(1, half);
  std::vector<std::int64_t> out;
  for (const auto row : field.nearest_rows())
    for (int k = -along; k <= along; ++k) out.push_back(row + half + k);
  return out;
}

}  // namespace cambium::lowp
