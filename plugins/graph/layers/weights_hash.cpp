#include "plugins/graph/layers/weights_hash.hpp"

#include <cstring>

namespace cambium::graph {

std::uint64_t hash_of(std::span<const TensorRef> weights) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const auto& w : weights) {
    const auto* bytes = static_cast<const char*>(w.data);
    const auto size = static_cast<std::size_t>(w.elements() * size_of(w.dtype));
    for (std::size_t k = 0; k < size; k += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes + k, 4);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
  }
  return hash;
}

}  // namespace cambium::graph
