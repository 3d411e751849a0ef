#pragma once
#include "core/parallel/random.hpp"

namespace cambium::graph {

// Random number streams of this plugin, in addition to those numbered in core.
inline constexpr auto made_graph_stream = static_cast<Stream>(50);
inline constexpr auto dropout_stream = static_cast<Stream>(51);
inline constexpr auto neighbours_stream = static_cast<Stream>(52);
inline constexpr auto made_links_stream = static_cast<Stream>(53);
inline constexpr auto held_out_links_stream = static_cast<Stream>(54);
inline constexpr auto negatives_stream = static_cast<Stream>(55);
inline constexpr auto judged_negatives_stream = static_cast<Stream>(56);
inline constexpr auto spectrum_stream = static_cast<Stream>(57);

}  // namespace cambium::graph
