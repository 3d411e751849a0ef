#pragma once
#include "core/parallel/random.hpp"

namespace cambium::relate {

// Random number streams of this plugin, in addition to those numbered in core.
inline constexpr auto made_clicks_stream = static_cast<Stream>(60);
inline constexpr auto made_pairs_stream = static_cast<Stream>(61);
inline constexpr auto fold_stream = static_cast<Stream>(62);
inline constexpr auto made_choices_stream = static_cast<Stream>(63);
inline constexpr auto other_items_stream = static_cast<Stream>(64);
inline constexpr auto step_items_stream = static_cast<Stream>(65);
inline constexpr auto picked_items_stream = static_cast<Stream>(66);

}  // namespace cambium::relate
