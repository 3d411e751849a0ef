#include "plugins/cosmo/boxes/turns.hpp"

#include "core/parallel/random.hpp"

namespace cambium::cosmo {

static constexpr auto turn_stream = static_cast<Stream>(73);  // this plugin's own
static constexpr auto dropout_stream = static_cast<Stream>(74);

Turn turn_of(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::int64_t n) {
  const Random4 random(seed, turn_stream, static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(step));
  constexpr std::array<std::array<std::int64_t, 3>, 6> orders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  Turn out;
  out.axes = orders[random.bits[0] % 6];
  for (std::uint32_t d = 0; d < 3; ++d) {
    out.mirrored[d] = (random.bits[0] >> (16 + d) & 1) != 0;
    out.moved[d] = static_cast<std::int64_t>(random.bits[1 + d] % static_cast<std::uint32_t>(n));
  }
  return out;
}

std::vector<double> kept_answers(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::size_t layer,
                                 std::int64_t width, double share) {
  std::vector<double> out;
  const auto place = static_cast<std::uint64_t>(layer) << 32;
  for (std::int64_t k = 0; k < width; ++k) {
    // Steps do not share random numbers up to 2^40 outputs.
    const Random4 random(seed + static_cast<std::uint64_t>(step) * 0x9E3779B97F4A7C15u, dropout_stream,
                         static_cast<std::uint64_t>(sample), place + static_cast<std::uint64_t>(k) / 4);
    out.push_back(random.uniform(static_cast<int>(k % 4)) < share ? 0.0 : 1.0 / (1.0 - share));
  }
  return out;
}

}  // namespace cambium::cosmo
