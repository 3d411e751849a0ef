#include "plugins/cosmo/gravity/gaussian_field.hpp"

#include <cmath>

#include "core/parallel/random.hpp"

namespace cambium::cosmo {
namespace {

constexpr auto field_stream = static_cast<Stream>(70);  // this plugin's own

void draw(std::uint64_t seed, const View<double*>& noise) {
  const int cells = static_cast<int>(noise.extent(0));
  Kokkos::parallel_for(
      "field: noise", Range(0, (cells + 3) / 4), KOKKOS_LAMBDA(int four) {
        const Random4 random(seed, field_stream, static_cast<std::uint64_t>(four), 0);
        for (int k = 0; k < 4 && 4 * four + k < cells; ++k) noise(4 * four + k) = random.normal(k);
      });
}

}  // namespace

void gaussian_field(const BoxWaves& box, const LinearPower& power, std::uint64_t seed, const View<double*>& waves) {
  const View<double*> noise("field: noise", box.values());
  draw(seed, noise);
  box.forward(noise, waves);
  const double scale = static_cast<double>(box.values()) / std::pow(box.box(), 3);
  box.filter(waves, [&](double k) { return std::sqrt(power(k) * scale); });
}

}  // namespace cambium::cosmo
