#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/base/pack.hpp"
#include "core/numerics/bfloat16.hpp"

#if defined(__FMA__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
#include <immintrin.h>
#endif

namespace cambium::sparse {

/// In which products of T are added up.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, Bf16>, float, T>;

/// a b + c in one rounding wherever the instruction set has it. fma() of packs is left to the compiler, which on some
/// CPUs splits chains of sums: results would then differ bitwise from one kernel to the next.
template <class T, int W>
CAMBIUM_HF Pack<T, W> fused(Pack<T, W> a, Pack<T, W> b, Pack<T, W> c) {
#if defined(__FMA__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
  if constexpr (std::is_same_v<T, double> && W == 4) return Pack<T, W>(_mm256_fmadd_pd(a.v, b.v, c.v));
  if constexpr (std::is_same_v<T, double> && W == 2) return Pack<T, W>(_mm_fmadd_pd(a.v, b.v, c.v));
  if constexpr (std::is_same_v<T, float> && W == 8) return Pack<T, W>(_mm256_fmadd_ps(a.v, b.v, c.v));
  if constexpr (std::is_same_v<T, float> && W == 4) return Pack<T, W>(_mm_fmadd_ps(a.v, b.v, c.v));
#endif
  return fma(a, b, c);
}

/// W adjacent values of T in memory, as a pack of the type in which they are summed.
template <class T, int W>
struct Lanes {
  using Sum = SumOf<T>;
  using P = Pack<Sum, W>;
  CAMBIUM_HF static P load(const T* p) { return P::load(p); }
  CAMBIUM_HF static void store(T* p, P x) { x.store(p); }
};

template <>
struct Lanes<Bf16, 1> {
  using P = Pack<float, 1>;
  CAMBIUM_HF static P load(const Bf16* p) { return static_cast<float>(*p); }
  CAMBIUM_HF static void store(Bf16* p, P x) { *p = Bf16(x.v); }
};

#if !defined(CAMBIUM_SCALAR_PACKS_ONLY)
/// Bits of W floats and of their upper halves, spelled out: g++ does not convert vectors of a dependent size.
template <int W>
struct BitsOf;
#define CAMBIUM_BITS_OF(W)                                            \
  template <>                                                         \
  struct BitsOf<W> {                                                  \
    typedef std::uint32_t Words __attribute__((vector_size(4 * W)));  \
    typedef std::uint16_t Halves __attribute__((vector_size(2 * W))); \
  };
CAMBIUM_BITS_OF(4)
CAMBIUM_BITS_OF(8)
CAMBIUM_BITS_OF(16)
#undef CAMBIUM_BITS_OF

template <int W>
requires(W > 1) struct Lanes<Bf16, W> {
  using P = Pack<float, W>;
  using Words = typename BitsOf<W>::Words;
  using Halves = typename BitsOf<W>::Halves;
  CAMBIUM_HF static P load(const Bf16* p) {
    Halves half;
    std::memcpy(&half, p, sizeof half);
    const Words bits = __builtin_convertvector(half, Words) << 16;
    P x;
    std::memcpy(&x.v, &bits, sizeof bits);
    return x;
  }
  /// As to_bfloat16 does it.
  CAMBIUM_HF static void store(Bf16* p, P x) {
    Words bits;
    std::memcpy(&bits, &x.v, sizeof bits);
    const Words nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, nan = (bits >> 16) | 0x40;
    const Halves half = __builtin_convertvector((bits & 0x7fffffff) > 0x7f800000 ? nan : nearest, Halves);
    std::memcpy(static_cast<void*>(p), &half, sizeof half);
  }
};
#endif

}  // namespace cambium::sparse
