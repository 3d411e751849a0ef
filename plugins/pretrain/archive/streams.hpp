#pragma once
#include "core/parallel/random.hpp"

namespace cambium::pretrain {

// Streams of random numbers of this plugin, beside those that core numbers.
inline constexpr auto made_up_stream = static_cast<Stream>(60);
inline constexpr auto augment_stream = static_cast<Stream>(61);
inline constexpr auto noise_stream = static_cast<Stream>(62);
inline constexpr auto draws_stream = static_cast<Stream>(63);
inline constexpr auto warp_stream = static_cast<Stream>(65);

}  // namespace cambium::pretrain
