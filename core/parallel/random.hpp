#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/parallel/kokkos.hpp"

// Random123 detects nvcc itself; under HIP its functions must be marked for the device, and SSE disabled.
#if defined(__HIP__) && !defined(R123_CUDA_DEVICE)
#define R123_CUDA_DEVICE __attribute__((host)) __attribute__((device))
#define R123_USE_SSE 0
#endif
#include <Random123/philox.h>

namespace cambium {

/// Every consumer of random numbers has its own stream, so that no two are correlated. The values here and below 100 in
/// plugins are those of earlier releases, whose results they preserve; new streams take a name
/// (stream("relate.pairs")). The test style.streams finds two consumers of one stream.
enum class Stream : std::uint32_t {
  velocities = 1,
  langevin = 2,
  csvr = 3,
  barostat = 4,
  lattice_noise = 5,
  model_weights = 6,
  shuffle = 7,
  hold_out = 8,
  made_samples = 9,
  initial_noise = 10,
  rounding = 11,
  pod_sketch = 30,
  example_field = 31,
  search = 32,
  trial_weights = 33,
  trial_order = 34,
  test = 99,
  external = 1000
};

/// Stream of a name, "plugin.what": FNV-1a over its characters, above all manually assigned values.
constexpr Stream stream(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char character : name) hash = (hash ^ static_cast<unsigned char>(character)) * 16777619U;
  return static_cast<Stream>(hash | 0x80000000U);
}

/// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a pure function of (seed, stream, id, step), so
/// results do not depend on the number of ranks or the order of atoms.
struct Random4 {
  std::uint32_t bits[4];

  KOKKOS_INLINE_FUNCTION
  Random4(std::uint64_t seed, Stream stream, std::uint64_t id, std::uint64_t step) {
    r123::Philox4x32 philox;
    r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32),
                                           static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)}};
    r123::Philox4x32::key_type key = {
        {static_cast<std::uint32_t>(seed ^ (seed >> 32)), static_cast<std::uint32_t>(stream)}};
    const auto r = philox(counter, key);
    for (int k = 0; k < 4; ++k) bits[k] = r[k];
  }

  /// Uniform in (0, 1), never 0 or 1. k = 0..3.
  KOKKOS_INLINE_FUNCTION double uniform(int k) const { return (bits[k] + 0.5) * (1.0 / 4294967296.0); }

  /// Standard normal deviates by Box and Muller. k = 0..3.
  KOKKOS_INLINE_FUNCTION double normal(int k) const {
    const int pair = k & ~1;
    const double radius = std::sqrt(-2.0 * std::log(uniform(pair)));
    const double angle = 6.283185307179586 * uniform(pair + 1);
    return radius * ((k & 1) ? std::sin(angle) : std::cos(angle));
  }
};

}  // namespace cambium
