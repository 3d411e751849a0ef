#pragma once
// AVX-512 implementations that the compiler's vector types cannot express. Included by pack.hpp only.
// Zero-masked intrinsics with a full mask compile to the plain instruction; the unmasked ones of g++ 12 start from an
// undefined register, of which the compiler then warns wherever they are inlined.
#include <immintrin.h>

namespace cambium {

template <>
struct PackMask<double, 8> {
  __mmask8 bits;
  CAMBIUM_HF static PackMask first(int n) { return {static_cast<__mmask8>(_bzhi_u32(0xff, n))}; }
  CAMBIUM_HF static PackMask differs(const int* values, int from) {
    return {_mm256_cmpneq_epi32_mask(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(values)),
                                     _mm256_set1_epi32(from))};
  }
  CAMBIUM_HF friend bool operator!=(PackMask a, PackMask b) { return a.bits != b.bits; }
  CAMBIUM_HF friend PackMask operator&(PackMask a, PackMask b) { return {static_cast<__mmask8>(a.bits & b.bits)}; }
  CAMBIUM_HF friend PackMask operator|(PackMask a, PackMask b) { return {static_cast<__mmask8>(a.bits | b.bits)}; }
  CAMBIUM_HF PackMask operator!() const { return {static_cast<__mmask8>(~bits)}; }
  CAMBIUM_HF friend int count(PackMask m) { return __builtin_popcount(m.bits); }
  CAMBIUM_HF friend bool any(PackMask m) { return m.bits != 0; }
  // Compress in the register, then store all of it: compressing into memory is microcoded on AMD CPUs.
  CAMBIUM_HF friend int compress_store(int* out, const int* in, PackMask m) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_maskz_compress_epi32(m.bits, v));
    return __builtin_popcount(m.bits);
  }
};

template <>
struct PackMask<float, 16> {
  __mmask16 bits;
  CAMBIUM_HF static PackMask first(int n) { return {static_cast<__mmask16>(_bzhi_u32(0xffff, n))}; }
  CAMBIUM_HF static PackMask differs(const int* values, int from) {
    return {_mm512_cmpneq_epi32_mask(_mm512_loadu_si512(values), _mm512_set1_epi32(from))};
  }
  CAMBIUM_HF friend bool operator!=(PackMask a, PackMask b) { return a.bits != b.bits; }
  CAMBIUM_HF friend PackMask operator&(PackMask a, PackMask b) { return {static_cast<__mmask16>(a.bits & b.bits)}; }
  CAMBIUM_HF friend PackMask operator|(PackMask a, PackMask b) { return {static_cast<__mmask16>(a.bits | b.bits)}; }
  CAMBIUM_HF PackMask operator!() const { return {static_cast<__mmask16>(~bits)}; }
  CAMBIUM_HF friend int count(PackMask m) { return __builtin_popcount(m.bits); }
  CAMBIUM_HF friend bool any(PackMask m) { return m.bits != 0; }
  CAMBIUM_HF friend int compress_store(int* out, const int* in, PackMask m) {
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(m.bits, _mm512_loadu_si512(in)));
    return __builtin_popcount(m.bits);
  }
};

namespace detail {

template <>
struct PackOps<double, 8> {
  using Values = __m512d;
  using Mask = PackMask<double, 8>;
  CAMBIUM_HF static Mask less(Values a, Values b) { return {_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)}; }
  CAMBIUM_HF static Values select(Mask m, Values a, Values b) { return _mm512_mask_blend_pd(m.bits, b, a); }
  CAMBIUM_HF static Values keep(Mask m, Values a) { return _mm512_maskz_mov_pd(m.bits, a); }
  CAMBIUM_HF static Values fma(Values a, Values b, Values c) { return _mm512_fmadd_pd(a, b, c); }
  CAMBIUM_HF static Values min(Values a, Values b) { return _mm512_maskz_min_pd(0xff, a, b); }
  CAMBIUM_HF static Values max(Values a, Values b) { return _mm512_maskz_max_pd(0xff, a, b); }
  CAMBIUM_HF static Values sqrt(Values a) { return _mm512_maskz_sqrt_pd(0xff, a); }
  CAMBIUM_HF static double sum(Values a) {
    const __m256d b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
    const __m128d c = __builtin_shufflevector(b, b, 0, 1) + __builtin_shufflevector(b, b, 2, 3);
    return c[0] + c[1];
  }

  CAMBIUM_HF static Values total(Values a) {
    a += __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3);
    a += __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
    return a + __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6);
  }

  // The division unit of current cores is as fast as an estimate with Newton steps, and exact.
  CAMBIUM_HF static Values reciprocal(Values a) { return _mm512_set1_pd(1.0) / a; }
  CAMBIUM_HF static Values reciprocal_sqrt(Values a) { return reciprocal(sqrt(a)); }

  CAMBIUM_HF static Values load_difference(const int* p, int from) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return _mm512_maskz_cvtepi32_pd(0xff, _mm256_sub_epi32(v, _mm256_set1_epi32(from)));
  }
  // Scalar loads: the gather instruction is slower.
  CAMBIUM_HF static Values lookup(const double* table, const int* index) {
    return Values{table[index[0]], table[index[1]], table[index[2]], table[index[3]],
                  table[index[4]], table[index[5]], table[index[6]], table[index[7]]};
  }
  CAMBIUM_HF static Values lookup(const double* table, Values index) {
    return _mm512_mask_i32gather_pd(Values{}, 0xff, _mm512_maskz_cvttpd_epi32(0xff, index), table, 8);
  }
  CAMBIUM_HF static int compress_store(double* out, Values a, Mask m) {
    _mm512_storeu_pd(out, _mm512_maskz_compress_pd(m.bits, a));
    return __builtin_popcount(m.bits);
  }
  CAMBIUM_HF static int compress_store(float* out, Values a, Mask m) {
    _mm256_storeu_ps(out, _mm256_maskz_compress_ps(m.bits, _mm512_maskz_cvtpd_ps(0xff, a)));
    return __builtin_popcount(m.bits);
  }
  // Eight 32-byte rows, paired so that the transposed components come out in index order.
  CAMBIUM_HF static void gather_rows(const double* x, const int* index, Values& a, Values& b, Values& c, Values& d) {
    const Values r02 = two_rows(x, index[0], index[2]), r13 = two_rows(x, index[1], index[3]);
    const Values r46 = two_rows(x, index[4], index[6]), r57 = two_rows(x, index[5], index[7]);
    const Values xz0123 = __builtin_shufflevector(r02, r13, 0, 8, 2, 10, 4, 12, 6, 14);
    const Values yt0123 = __builtin_shufflevector(r02, r13, 1, 9, 3, 11, 5, 13, 7, 15);
    const Values xz4567 = __builtin_shufflevector(r46, r57, 0, 8, 2, 10, 4, 12, 6, 14);
    const Values yt4567 = __builtin_shufflevector(r46, r57, 1, 9, 3, 11, 5, 13, 7, 15);
    a = __builtin_shufflevector(xz0123, xz4567, 0, 1, 4, 5, 8, 9, 12, 13);
    b = __builtin_shufflevector(yt0123, yt4567, 0, 1, 4, 5, 8, 9, 12, 13);
    c = __builtin_shufflevector(xz0123, xz4567, 2, 3, 6, 7, 10, 11, 14, 15);
    d = __builtin_shufflevector(yt0123, yt4567, 2, 3, 6, 7, 10, 11, 14, 15);
  }

 private:
  CAMBIUM_HF static Values two_rows(const double* x, int i, int j) {
    const __m256d a = _mm256_loadu_pd(x + 4 * static_cast<std::int64_t>(i));
    const __m256d b = _mm256_loadu_pd(x + 4 * static_cast<std::int64_t>(j));
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  }
};

template <>
struct PackOps<float, 16> {
  using Values = __m512;
  using Mask = PackMask<float, 16>;
  CAMBIUM_HF static Mask less(Values a, Values b) { return {_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)}; }
  CAMBIUM_HF static Values select(Mask m, Values a, Values b) { return _mm512_mask_blend_ps(m.bits, b, a); }
  CAMBIUM_HF static Values keep(Mask m, Values a) { return _mm512_maskz_mov_ps(m.bits, a); }
  CAMBIUM_HF static Values fma(Values a, Values b, Values c) { return _mm512_fmadd_ps(a, b, c); }
  CAMBIUM_HF static Values min(Values a, Values b) { return _mm512_maskz_min_ps(0xffff, a, b); }
  CAMBIUM_HF static Values max(Values a, Values b) { return _mm512_maskz_max_ps(0xffff, a, b); }
  CAMBIUM_HF static Values sqrt(Values a) { return _mm512_maskz_sqrt_ps(0xffff, a); }
  CAMBIUM_HF static float sum(Values a) {
    const __m256 b = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128 c = __builtin_shufflevector(b, b, 0, 1, 2, 3) + __builtin_shufflevector(b, b, 4, 5, 6, 7);
    return (c[0] + c[2]) + (c[1] + c[3]);
  }
  CAMBIUM_HF static Values total(Values a) { return sum(a) - Values{}; }
  CAMBIUM_HF static Values reciprocal(Values a) { return _mm512_set1_ps(1.0f) / a; }
  CAMBIUM_HF static Values reciprocal_sqrt(Values a) { return reciprocal(sqrt(a)); }
  CAMBIUM_HF static Values load_difference(const int* p, int from) {
    const __m512i v = _mm512_loadu_si512(p);
    return _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_sub_epi32(0xffff, v, _mm512_set1_epi32(from)));
  }
  CAMBIUM_HF static Values lookup(const float* table, const int* index) {
    return _mm512_mask_i32gather_ps(Values{}, 0xffff, _mm512_loadu_si512(index), table, 4);
  }
  CAMBIUM_HF static Values lookup(const float* table, Values index) {
    return _mm512_mask_i32gather_ps(Values{}, 0xffff, _mm512_maskz_cvttps_epi32(0xffff, index), table, 4);
  }
  CAMBIUM_HF static int compress_store(float* out, Values a, Mask m) {
    _mm512_storeu_ps(out, _mm512_maskz_compress_ps(m.bits, a));
    return __builtin_popcount(m.bits);
  }
  CAMBIUM_HF static void gather_rows(const float* x, const int* index, Values& a, Values& b, Values& c, Values& d) {
    const __m512i row = _mm512_maskz_slli_epi32(0xffff, _mm512_loadu_si512(index), 2);
    a = _mm512_mask_i32gather_ps(Values{}, 0xffff, row, x, 4);
    b = _mm512_mask_i32gather_ps(Values{}, 0xffff, row, x + 1, 4);
    c = _mm512_mask_i32gather_ps(Values{}, 0xffff, row, x + 2, 4);
    d = _mm512_mask_i32gather_ps(Values{}, 0xffff, row, x + 3, 4);
  }
};

}  // namespace detail
}  // namespace cambium
