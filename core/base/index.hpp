#pragma once

#include <cstddef>
#include <cstdint>

namespace cambium {

/// A signed index as containers of the standard library take it; must not be negative.
inline std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

}  // namespace cambium
