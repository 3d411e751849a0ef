#include "core/train/weights/grid.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::train {

/// Integer k of the packed values.
static int number_at(const Grid& grid, std::span<const std::byte> packed, std::size_t k) {
  if (!grid.ternary()) return static_cast<std::int8_t>(packed[k]);
  return (static_cast<int>(packed[k / 4]) >> 2 * (k % 4) & 3) - 1;
}

static void set_number(const Grid& grid, std::span<std::byte> packed, std::size_t k, int q) {
  if (!grid.ternary()) {
    packed[k] = static_cast<std::byte>(static_cast<std::int8_t>(q));
    return;
  }
  const int shift = 2 * static_cast<int>(k % 4), others = static_cast<int>(packed[k / 4]) & ~(3 << shift);
  packed[k / 4] = static_cast<std::byte>(others | (q + 1) << shift);
}

std::vector<double> steps_on(std::span<const Grid> grids, int limit) {
  std::vector<double> out;
  for (const auto& grid : grids) {
    if (grid.limit != limit) return {};
    out.push_back(static_cast<double>(grid.step));
  }
  return out;
}

static void require_size(const Grid& grid, std::size_t numbers, std::size_t bytes) {
  if (grid.bytes(static_cast<std::int64_t>(numbers)) != static_cast<std::int64_t>(bytes))
    throw InternalError("a packed array has another length than its values");
}

void unpack_grid(const Grid& grid, std::span<const std::byte> packed, std::span<float> values) {
  require_size(grid, values.size(), packed.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<float>(number_at(grid, packed, k)) * grid.step;
}

std::int64_t round_onto_grid(const Grid& grid, std::span<const float> values, const lowp::RoundingAddress& address,
                             bool nearest, std::span<std::byte> packed) {
  require_size(grid, values.size(), packed.size());
  const float inverse = grid.step > 0.0f ? 1.0f / grid.step : 0.0f, most = static_cast<float>(grid.limit);
  std::uint16_t random[lowp::dither_block];
  std::int64_t changed = 0;
  const auto first = static_cast<std::size_t>(address.first);
  const lowp::RoundingAddress tensor{address.seed, address.tensor, address.step, 0};
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t place = (first + k) % lowp::dither_block;
    if ((place == 0 || k == 0) && !nearest)
      lowp::dithers(tensor, static_cast<std::int64_t>((first + k) / lowp::dither_block), random);
    const float chance = nearest ? 0.5f : (static_cast<float>(random[place]) + 0.5f) * (1.0f / 65536.0f);
    const int q = static_cast<int>(std::clamp(std::floor(values[k] * inverse + chance), -most, most));
    changed += q != number_at(grid, packed, k);
    set_number(grid, packed, k, q);
  }
  return changed;
}

}  // namespace cambium::train
