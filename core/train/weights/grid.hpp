#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/lowp/dither.hpp"

namespace cambium::train {

/// Values -limit, ..., limit times a step, packed: one byte each (limit 127) or four to a byte (limit 1).
struct Grid {
  int limit = 127;
  float step = 0.0f;

  bool ternary() const { return limit == 1; }
  std::int64_t bytes(std::int64_t n) const { return ternary() ? (n + 3) / 4 : n; }
};

/// Steps of grids with this limit; empty if there are none, or different ones.
std::vector<double> steps_on(std::span<const Grid> grids, int limit);

/// Converts packed values to float.
void unpack_grid(const Grid& grid, std::span<const std::byte> packed, std::span<float> values);

/// Rounds values to the grid, overwriting `packed`, and clips them to its range. Stochastic without bias (up to 2^-17
/// of a step), by random numbers of the address and the element only; or to nearest with `nearest`. `address.first` may
/// be any element of the tensor. Returns how many changed.
std::int64_t round_onto_grid(const Grid& grid, std::span<const float> values, const lowp::RoundingAddress& address,
                             bool nearest, std::span<std::byte> packed);

}  // namespace cambium::train
