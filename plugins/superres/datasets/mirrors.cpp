#include "plugins/superres/datasets/mirrors.hpp"

#include "core/parallel/random.hpp"

namespace cambium::superres {

static constexpr auto mirror_stream = static_cast<Stream>(80);  // this plugin's own

Mirror mirror_of(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::int64_t points) {
  const Random4 random(seed, mirror_stream, static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(step));
  return {static_cast<std::int64_t>(random.bits[0] % static_cast<std::uint32_t>(points)), (random.bits[1] & 1) != 0,
          (random.bits[2] & 1) != 0};
}

}  // namespace cambium::superres
