#pragma once
// SIMD type: W values of type T with arithmetic operators. A kernel takes the width of its execution space
// (core/numerics/width.hpp): 1 on a device, where a pack is a scalar. Host packs use the compiler's vector types for
// the instruction set of their translation unit; the rest is in pack_avx512.hpp. CAMBIUM_FN: host and device,
// CAMBIUM_HF: host.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#define CAMBIUM_HF inline __attribute__((always_inline))
#if defined(__CUDACC__) || defined(__HIP__)
#define CAMBIUM_DEVICE_COMPILER
#define CAMBIUM_FN __attribute__((host)) __attribute__((device)) inline
#else
#define CAMBIUM_FN CAMBIUM_HF
#endif

namespace cambium {

/// Values of type T in one register of the instruction set this file is compiled for.
template <class T>
constexpr int native_width =
#if defined(CAMBIUM_SCALAR_PACKS_ONLY)
    1;
#elif defined(__AVX512F__) && defined(__AVX512VL__)
    64 / sizeof(T);
#elif defined(__AVX__)
    32 / sizeof(T);
#elif defined(__SSE2__) || defined(__ARM_NEON)
    16 / sizeof(T);
#else
    1;
#endif

template <class T, int W>
struct Pack;

/// W truth values, the result of comparing packs: `&`, `|`, `!`, `!=`, any(m), count(m), and compress_store(out, in,
/// m), which writes the entries of `in` whose truth is set one after the other, returns their number and may overwrite
/// W entries of `out`.
template <class T, int W>
struct PackMask;

template <class T>
struct PackMask<T, 1> {
  bool bits;
  CAMBIUM_FN static PackMask first(int n) { return {n > 0}; }  ///< lanes 0..n-1
  CAMBIUM_FN static PackMask differs(const int* values, int from) { return {*values != from}; }
  CAMBIUM_FN friend PackMask operator&(PackMask a, PackMask b) { return {a.bits && b.bits}; }
  CAMBIUM_FN friend PackMask operator|(PackMask a, PackMask b) { return {a.bits || b.bits}; }
  CAMBIUM_FN PackMask operator!() const { return {!bits}; }
  CAMBIUM_FN friend bool operator!=(PackMask a, PackMask b) { return a.bits != b.bits; }
  CAMBIUM_FN friend bool any(PackMask m) { return m.bits; }
  CAMBIUM_FN friend int count(PackMask m) { return m.bits; }
  CAMBIUM_FN friend int compress_store(int* out, const int* in, PackMask m) {
    if (m.bits) *out = *in;
    return m.bits;
  }
};

/// One number.
template <class T>
struct Pack<T, 1> {
  static constexpr int width = 1;
  using value_type = T;
  using Mask = PackMask<T, 1>;
  T v;
  CAMBIUM_FN Pack() = default;
  CAMBIUM_FN Pack(T x) : v(x) {}
  CAMBIUM_FN static Pack load(const T* p) { return *p; }
  CAMBIUM_FN static Pack load_difference(const int* p, int from) { return static_cast<T>(*p - from); }
  CAMBIUM_FN static Pack lookup(const T* table, const int* index) { return table[*index]; }
  CAMBIUM_FN static Pack lookup(const T* table, Pack index) { return table[static_cast<int>(index.v)]; }
  CAMBIUM_FN void store(T* p) const { *p = v; }
  CAMBIUM_FN T operator[](int) const { return v; }
  CAMBIUM_FN friend Pack operator+(Pack a, Pack b) { return a.v + b.v; }
  CAMBIUM_FN friend Pack operator-(Pack a, Pack b) { return a.v - b.v; }
  CAMBIUM_FN friend Pack operator*(Pack a, Pack b) { return a.v * b.v; }
  CAMBIUM_FN friend Pack operator/(Pack a, Pack b) { return a.v / b.v; }
  CAMBIUM_FN Pack operator-() const { return -v; }
  CAMBIUM_FN Pack& operator+=(Pack b) {
    v += b.v;
    return *this;
  }
  CAMBIUM_FN Pack& operator-=(Pack b) {
    v -= b.v;
    return *this;
  }
  CAMBIUM_FN Pack& operator*=(Pack b) {
    v *= b.v;
    return *this;
  }
  CAMBIUM_FN friend Mask operator<(Pack a, Pack b) { return {a.v < b.v}; }
  CAMBIUM_FN friend Mask operator>(Pack a, Pack b) { return {a.v > b.v}; }
  CAMBIUM_FN friend Pack select(Mask m, Pack a, Pack b) { return m.bits ? a.v : b.v; }
  CAMBIUM_FN friend Pack keep(Mask m, Pack a) { return m.bits ? a.v : T(0); }
  CAMBIUM_FN friend T sum(Pack a) { return a.v; }
  CAMBIUM_FN friend Pack total(Pack a) { return a; }
  CAMBIUM_FN friend Pack sqrt(Pack a) { return std::sqrt(a.v); }
  CAMBIUM_FN friend Pack fma(Pack a, Pack b, Pack c) { return std::fma(a.v, b.v, c.v); }
  CAMBIUM_FN friend Pack min(Pack a, Pack b) { return b.v < a.v ? b.v : a.v; }
  CAMBIUM_FN friend Pack max(Pack a, Pack b) { return a.v < b.v ? b.v : a.v; }
  CAMBIUM_FN friend Pack reciprocal(Pack a) { return T(1) / a.v; }
  CAMBIUM_FN friend Pack reciprocal_sqrt(Pack a) { return T(1) / std::sqrt(a.v); }
  template <class U>
  CAMBIUM_FN friend int compress_store(U* out, Pack a, Mask m) {
    if (m.bits) *out = static_cast<U>(a.v);
    return m.bits;
  }
};

/// Neighbour positions, one pack per component, from rows (x, y, z, type).
template <class P>
struct Rows {
  P x, y, z, type;
};

/// Rows index[0..W-1] of the array `x` of (x, y, z, type) rows. Unused components cost nothing.
template <class P>
CAMBIUM_FN Rows<P> gather_rows(const typename P::value_type* x, const int* index) {
  if constexpr (P::width == 1) {
    const auto* r = x + 4 * static_cast<std::int64_t>(*index);
    return {r[0], r[1], r[2], r[3]};
  } else {
    return P::gather_rows(x, index);
  }
}

#if !defined(CAMBIUM_SCALAR_PACKS_ONLY)
namespace detail {
/// The compiler's vector types, spelled out: g++ does not unify a dependent vector_size with itself.
template <class T, int Bytes>
struct VectorOf;
#define CAMBIUM_VECTOR_OF(T, I, Bytes)                    \
  template <>                                             \
  struct VectorOf<T, Bytes> {                             \
    typedef T Values __attribute__((vector_size(Bytes))); \
    typedef I Ints __attribute__((vector_size(Bytes)));   \
  };
CAMBIUM_VECTOR_OF(double, std::int64_t, 16)
CAMBIUM_VECTOR_OF(double, std::int64_t, 32)
CAMBIUM_VECTOR_OF(double, std::int64_t, 64)
CAMBIUM_VECTOR_OF(float, std::int32_t, 16)
CAMBIUM_VECTOR_OF(float, std::int32_t, 32)
CAMBIUM_VECTOR_OF(float, std::int32_t, 64)
#undef CAMBIUM_VECTOR_OF

/// Parts that depend on the instruction set; specialised in pack_avx512.hpp.
template <class T, int W>
struct PackOps {
  using Values = typename VectorOf<T, W * sizeof(T)>::Values;
  using Mask = PackMask<T, W>;
  CAMBIUM_HF static Mask less(Values a, Values b) { return {a < b}; }
  CAMBIUM_HF static Values select(Mask m, Values a, Values b) { return m.bits ? a : b; }
  CAMBIUM_HF static Values keep(Mask m, Values a) { return m.bits ? a : Values{}; }
  CAMBIUM_HF static Values fma(Values a, Values b, Values c) { return a * b + c; }  // contracted where fma exists
  CAMBIUM_HF static Values min(Values a, Values b) { return b < a ? b : a; }
  CAMBIUM_HF static Values max(Values a, Values b) { return a < b ? b : a; }
  CAMBIUM_HF static Values reciprocal(Values a) { return (Values{} + T(1)) / a; }
  CAMBIUM_HF static Values sqrt(Values a) {
    for (int k = 0; k < W; ++k) a[k] = std::sqrt(a[k]);
    return a;
  }
  CAMBIUM_HF static Values reciprocal_sqrt(Values a) { return reciprocal(sqrt(a)); }
  CAMBIUM_HF static T sum(Values a) {
    T s = 0;
    for (int k = 0; k < W; ++k) s += a[k];
    return s;
  }
  CAMBIUM_HF static Values total(Values a) { return sum(a) - Values{}; }
  CAMBIUM_HF static Values load_difference(const int* p, int from) {
    Values r;
    for (int k = 0; k < W; ++k) r[k] = static_cast<T>(p[k] - from);
    return r;
  }
  CAMBIUM_HF static Values lookup(const T* table, const int* index) {
    Values r;
    for (int k = 0; k < W; ++k) r[k] = table[index[k]];
    return r;
  }
  CAMBIUM_HF static Values lookup(const T* table, Values index) {
    Values r;
    for (int k = 0; k < W; ++k) r[k] = table[static_cast<int>(index[k])];
    return r;
  }
  template <class U>
  CAMBIUM_HF static int compress_store(U* out, Values a, Mask m) {
    int n = 0;
    for (int k = 0; k < W; ++k) out[n] = static_cast<U>(a[k]), n += m.bits[k] != 0;
    return n;
  }
  CAMBIUM_HF static void gather_rows(const T* x, const int* index, Values& a, Values& b, Values& c, Values& d) {
    for (int k = 0; k < W; ++k) {
      const T* r = x + 4 * static_cast<std::int64_t>(index[k]);
      a[k] = r[0], b[k] = r[1], c[k] = r[2], d[k] = r[3];
    }
  }
};
}  // namespace detail

template <class T, int W>
struct PackMask {
  using Ints = typename detail::VectorOf<T, W * sizeof(T)>::Ints;
  Ints bits;  ///< 0 or -1 per lane
  CAMBIUM_HF static PackMask first(int n) {
    Ints lane{};
    for (int k = 0; k < W; ++k) lane[k] = k < n ? -1 : 0;
    return {lane};
  }
  CAMBIUM_HF static PackMask differs(const int* values, int from) {
    Ints lane{};
    for (int k = 0; k < W; ++k) lane[k] = values[k] != from ? -1 : 0;
    return {lane};
  }
  CAMBIUM_HF friend PackMask operator&(PackMask a, PackMask b) { return {a.bits & b.bits}; }
  CAMBIUM_HF friend PackMask operator|(PackMask a, PackMask b) { return {a.bits | b.bits}; }
  CAMBIUM_HF PackMask operator!() const { return {~bits}; }
  CAMBIUM_HF friend int count(PackMask m) {
    int n = 0;
    for (int k = 0; k < W; ++k) n += m.bits[k] != 0;
    return n;
  }
  CAMBIUM_HF friend bool any(PackMask m) { return count(m) != 0; }
  CAMBIUM_HF friend bool operator!=(PackMask a, PackMask b) { return any(PackMask{a.bits ^ b.bits}); }
  CAMBIUM_HF friend int compress_store(int* out, const int* in, PackMask m) {
    int n = 0;
    for (int k = 0; k < W; ++k) out[n] = in[k], n += m.bits[k] != 0;
    return n;
  }
};
}  // namespace cambium

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include "core/base/pack_avx512.hpp"
#endif

namespace cambium {
template <class T, int W>
struct Pack {
  static constexpr int width = W;
  using value_type = T;
  using Ops = detail::PackOps<T, W>;
  using Vector = typename Ops::Values;
  using Mask = PackMask<T, W>;
  Vector v;

  Pack() = default;
  CAMBIUM_HF Pack(T x) : v(x - Vector{}) {}  // a broadcast; adding zero would cost an addition, for the sake of -0
  CAMBIUM_HF Pack(Vector x) : v(x) {}
  CAMBIUM_HF static Pack load(const T* p) {
    Vector r;
    std::memcpy(&r, p, sizeof r);
    return r;
  }
  /// p[k] - from, of integers.
  CAMBIUM_HF static Pack load_difference(const int* p, int from) { return Ops::load_difference(p, from); }
  /// table[index[k]] per lane; the second form takes indices stored as floating-point values (particle types).
  CAMBIUM_HF static Pack lookup(const T* table, const int* index) { return Ops::lookup(table, index); }
  CAMBIUM_HF static Pack lookup(const T* table, Pack index) { return Ops::lookup(table, index.v); }
  CAMBIUM_HF static Rows<Pack> gather_rows(const T* x, const int* index) {
    Rows<Pack> r;
    Ops::gather_rows(x, index, r.x.v, r.y.v, r.z.v, r.type.v);
    return r;
  }
  CAMBIUM_HF void store(T* p) const { std::memcpy(p, &v, sizeof v); }
  CAMBIUM_HF T operator[](int k) const { return v[k]; }
  CAMBIUM_HF friend Pack operator+(Pack a, Pack b) { return a.v + b.v; }
  CAMBIUM_HF friend Pack operator-(Pack a, Pack b) { return a.v - b.v; }
  CAMBIUM_HF friend Pack operator*(Pack a, Pack b) { return a.v * b.v; }
  CAMBIUM_HF friend Pack operator/(Pack a, Pack b) { return a.v / b.v; }
  CAMBIUM_HF Pack operator-() const { return -v; }
  CAMBIUM_HF Pack& operator+=(Pack b) {
    v += b.v;
    return *this;
  }
  CAMBIUM_HF Pack& operator-=(Pack b) {
    v -= b.v;
    return *this;
  }
  CAMBIUM_HF Pack& operator*=(Pack b) {
    v *= b.v;
    return *this;
  }
  CAMBIUM_HF friend Mask operator<(Pack a, Pack b) { return Ops::less(a.v, b.v); }
  CAMBIUM_HF friend Mask operator>(Pack a, Pack b) { return Ops::less(b.v, a.v); }
  /// m ? a : b per lane.
  CAMBIUM_HF friend Pack select(Mask m, Pack a, Pack b) { return Ops::select(m, a.v, b.v); }
  /// m ? a : 0 per lane.
  CAMBIUM_HF friend Pack keep(Mask m, Pack a) { return Ops::keep(m, a.v); }
  CAMBIUM_HF friend T sum(Pack a) { return Ops::sum(a.v); }
  CAMBIUM_HF friend Pack total(Pack a) { return Ops::total(a.v); }  ///< the sum, in every lane
  CAMBIUM_HF friend Pack sqrt(Pack a) { return Ops::sqrt(a.v); }
  CAMBIUM_HF friend Pack fma(Pack a, Pack b, Pack c) { return Ops::fma(a.v, b.v, c.v); }
  CAMBIUM_HF friend Pack min(Pack a, Pack b) { return Ops::min(a.v, b.v); }
  CAMBIUM_HF friend Pack max(Pack a, Pack b) { return Ops::max(a.v, b.v); }
  /// 1/a, and 1/sqrt(a) to 1.5 ulp.
  CAMBIUM_HF friend Pack reciprocal(Pack a) { return Ops::reciprocal(a.v); }
  CAMBIUM_HF friend Pack reciprocal_sqrt(Pack a) { return Ops::reciprocal_sqrt(a.v); }
  /// Writes the lanes of `m` one after the other, in precision U, and returns their number; up to W entries of `out`
  /// are overwritten.
  template <class U>
  CAMBIUM_HF friend int compress_store(U* out, Pack a, Mask m) {
    return Ops::compress_store(out, a.v, m);
  }
};
#endif

}  // namespace cambium
