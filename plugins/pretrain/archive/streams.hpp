#pragma once
#include "core/parallel/random.hpp"

namespace cambium::pretrain {

// Random number streams of this plugin.
inline constexpr auto made_up_stream = stream("pretrain.made_up");
inline constexpr auto augment_stream = stream("pretrain.augment");
inline constexpr auto noise_stream = stream("pretrain.noise");
inline constexpr auto draws_stream = stream("pretrain.draws");
inline constexpr auto warp_stream = stream("pretrain.warp");

}  // namespace cambium::pretrain
