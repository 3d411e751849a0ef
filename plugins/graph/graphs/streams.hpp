#pragma once
#include "core/parallel/random.hpp"

namespace cambium::graph {

// Streams of random numbers of this plugin, beside those that core numbers.
inline constexpr auto made_graph_stream = static_cast<Stream>(50);
inline constexpr auto dropout_stream = static_cast<Stream>(51);
inline constexpr auto neighbours_stream = static_cast<Stream>(52);

}  // namespace cambium::graph
