#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace cambium {

/// A signed index as containers of the standard library take it; must not be negative.
inline std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// Product of counts; none when one is negative or the product needs more than 63 bits.
inline std::optional<std::int64_t> product_of(std::initializer_list<std::int64_t> counts) {
  std::int64_t all = 1;
  for (std::int64_t n : counts)
    if (n < 0 || __builtin_mul_overflow(all, n, &all)) return {};
  return all;
}

}  // namespace cambium
