#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

namespace cambium::io {

/// Largest number of fill values (_FillValue of CF) of an array.
constexpr std::size_t most_fills = 4;

/// NaN that a codec gets in place of fill value k: it counts in no range and is restored bitwise.
template <class T>
T mark_of_fill(std::size_t k) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(std::uint32_t{0x7fc0ca00} + static_cast<std::uint32_t>(k));
  else
    return std::bit_cast<double>(std::uint64_t{0x7ff8ca3b00000000} + k);
}

template <class T>
void mark_fills(std::span<T> values, std::span<const double> fills) {
  for (std::size_t k = 0; k < fills.size(); ++k)
    for (T& x : values)
      if (x == static_cast<T>(fills[k])) x = mark_of_fill<T>(k);
}

/// Undoes mark_fills().
template <class T>
void restore_fills(std::span<T> values, std::span<const double> fills) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (std::size_t k = 0; k < fills.size(); ++k) {
    const auto mark = std::bit_cast<Bits>(mark_of_fill<T>(k));
    for (T& x : values)
      if (std::bit_cast<Bits>(x) == mark) x = static_cast<T>(fills[k]);
  }
}

}  // namespace cambium::io
