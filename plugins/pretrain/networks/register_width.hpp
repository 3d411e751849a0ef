#pragma once
#include <cstdint>
#include <type_traits>

#include "core/base/pack.hpp"

namespace cambium::pretrain {

/// Calls act(an integral constant) with the largest register width, full or partial, that divides `channels`.
template <class T, int W = native_width<T>, class Act>
void with_register_width(std::int64_t channels, const Act& act) {
  if constexpr (W > 1 && W * sizeof(T) > 16)
    if (channels % W != 0) return with_register_width<T, W / 2>(channels, act);
  if (W > 1 && channels % W != 0) return act(std::integral_constant<int, 1>{});
  act(std::integral_constant<int, W>{});
}

}  // namespace cambium::pretrain
