#pragma once
#include <cstdint>

namespace cambium::graph {

/// Memory of the numbers in some vectors.
template <class... V>
std::int64_t bytes_in(const V&... vectors) {
  return (std::int64_t{0} + ... + static_cast<std::int64_t>(vectors.size() * sizeof(typename V::value_type)));
}

}  // namespace cambium::graph
