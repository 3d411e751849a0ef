#pragma once
// Float32 packs over rows whose length is no multiple of the width.
#include <cstdint>
#include <cstring>

#include "core/base/pack_math.hpp"

namespace cambium::podlstm {

using FloatPack = Pack<float, native_width<float>>;

/// 1 / (1 + e^-x) = (1 + tanh(x / 2)) / 2.
CAMBIUM_FN FloatPack sigmoid(FloatPack x) {
  const FloatPack half = 0.5f;
  return fma(half, tanh(half * x), half);
}

/// Loads and stores full packs.
struct FullLanes {
  CAMBIUM_FN FloatPack load(const float* p) const { return FloatPack::load(p); }
  CAMBIUM_FN void store(FloatPack x, float* p) const { x.store(p); }
};

/// The first `n` lanes; others are read as zero and not written.
struct SomeLanes {
  std::int64_t n;
  FloatPack load(const float* p) const {
    float lanes[FloatPack::width] = {};
    std::memcpy(lanes, p, static_cast<std::size_t>(n) * sizeof(float));
    return FloatPack::load(lanes);
  }
  void store(FloatPack x, float* p) const {
    float lanes[FloatPack::width];
    x.store(lanes);
    std::memcpy(p, lanes, static_cast<std::size_t>(n) * sizeof(float));
  }
};

/// Calls action(first element, lanes) for pieces that cover 0..n-1.
template <class F>
CAMBIUM_FN void for_each_pack(std::int64_t n, F&& action) {
  std::int64_t j = 0;
  for (; j + FloatPack::width <= n; j += FloatPack::width) action(j, FullLanes{});
  if (j < n) action(j, SomeLanes{n - j});
}

}  // namespace cambium::podlstm
