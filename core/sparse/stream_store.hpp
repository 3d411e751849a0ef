#pragma once
#include <cstdint>

#include "core/sparse/lanes.hpp"

#if defined(__SSE2__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
#include <immintrin.h>
#endif

namespace cambium::sparse {

/// True if store_past_caches() bypasses the caches: rows of `stride` bytes aligned to 16 bytes.
inline bool can_store_past_caches([[maybe_unused]] const void* data, [[maybe_unused]] std::int64_t stride) {
#if defined(__SSE2__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride % 16 == 0;
#else
  return false;
#endif
}

/// Lanes<T, W>::store() with non-temporal stores, sixteen bytes at a time; `p` is aligned to 16 bytes. For results
/// larger than the caches: a third of the memory traffic of a product on a mesh.
template <class T, int W>
CAMBIUM_HF void store_past_caches(T* p, typename Lanes<T, W>::P x) {
#if defined(__SSE2__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
  if constexpr (std::is_same_v<T, SumOf<T>> && W * sizeof(T) >= 16) {
    __m128i part[W * sizeof(T) / 16];
    std::memcpy(part, &x.v, sizeof part);
    for (std::size_t k = 0; k < W * sizeof(T) / 16; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(p) + k, part[k]);
    return;
  }
#endif
  Lanes<T, W>::store(p, x);
}

/// To be called after store_past_caches(), before others read.
inline void finish_stores() {
#if defined(__SSE2__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
  _mm_sfence();
#endif
}

}  // namespace cambium::sparse
