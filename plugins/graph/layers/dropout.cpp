#include "plugins/graph/layers/dropout.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/graph/graphs/streams.hpp"

namespace cambium::graph {

namespace {
constexpr std::uint64_t most_layers = 64;
constexpr std::int64_t at_once = 8;  ///< 16-bit values in one draw
constexpr std::uint64_t of_edges = std::uint64_t{1} << 63;
}  // namespace

Dropout::Dropout(double rate, const Draws& draws, int layer)
    : threshold_(draws.training ? static_cast<std::uint32_t>(std::lround(rate * 65536.0)) : 0),
      scale_(65536.0 / (65536.0 - threshold_)), seed_(draws.seed),
      step_(static_cast<std::uint64_t>(draws.step) * most_layers + static_cast<std::uint64_t>(layer)) {}

/// Eight factors from one draw.
template <class T>
static void factors_of(const Random4& random, std::uint32_t threshold, T kept, T* out) {
  for (int k = 0; k < 4; ++k) {
    out[2 * k] = (random.bits[k] & 0xffff) < threshold ? T(0) : kept;
    out[2 * k + 1] = (random.bits[k] >> 16) < threshold ? T(0) : kept;
  }
}

template <class T>
void Dropout::fill(std::int32_t node, std::int64_t count, T* factors) const {
  T block[at_once];
  for (std::int64_t first = 0; first < count; first += at_once) {
    const auto id = static_cast<std::uint64_t>(node) | static_cast<std::uint64_t>(first / at_once) << 32;
    factors_of(Random4(seed_, dropout_stream, id, step_), threshold_, static_cast<T>(scale_), block);
    std::copy_n(block, std::min(at_once, count - first), factors + first);
  }
}

template <class T>
void Dropout::fill_edge(std::int32_t to, std::int32_t from, int heads, T* factors) const {
  const auto id = static_cast<std::uint64_t>(to) | static_cast<std::uint64_t>(from) << 32 | of_edges;
  T block[at_once];
  for (int first = 0; first < heads; first += at_once) {
    const auto step = step_ | static_cast<std::uint64_t>(first / at_once) << 48;
    factors_of(Random4(seed_, dropout_stream, id, step), threshold_, static_cast<T>(scale_), block);
    std::copy_n(block, std::min<std::int64_t>(at_once, heads - first), factors + first);
  }
}

template void Dropout::fill(std::int32_t, std::int64_t, float*) const;
template void Dropout::fill(std::int32_t, std::int64_t, double*) const;
template void Dropout::fill_edge(std::int32_t, std::int32_t, int, float*) const;
template void Dropout::fill_edge(std::int32_t, std::int32_t, int, double*) const;

}  // namespace cambium::graph
