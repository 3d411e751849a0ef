#include <algorithm>
#include <cstring>

#include "core/base/pack.hpp"
#include "core/lowp/binary_coding.hpp"

namespace cambium::lowp {
namespace {

constexpr int columns_at_once = 16;

#if defined(__AVX512F__)
/// Sixteen values in one register, a lookup table for sixteen rows at once: an index is the low four bits of a lane.
struct Row16 {
  __m512 v;
  static Row16 zero() { return {_mm512_setzero_ps()}; }
  static Row16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void add(Row16 other) { v = v + other.v; }
  void add_scaled(Row16 factor, Row16 other) { v = _mm512_fmadd_ps(factor.v, other.v, v); }
};
struct Keys16 {
  __m512i v;
  static Keys16 load(const std::uint32_t* p) { return {_mm512_loadu_si512(p)}; }
  void next() { v = _mm512_maskz_srli_epi32(0xffff, v, 4); }
  Row16 choose(const float* table) const { return {_mm512_maskz_permutexvar_ps(0xffff, v, _mm512_loadu_ps(table))}; }
};
#else
struct Row16 {
  float v[columns_at_once];
  static Row16 zero() { return {}; }
  static Row16 load(const float* p) {
    Row16 r;
    std::memcpy(r.v, p, sizeof r.v);
    return r;
  }
  void store(float* p) const { std::memcpy(p, v, sizeof v); }
  void add(Row16 other) {
    for (int k = 0; k < columns_at_once; ++k) v[k] += other.v[k];
  }
  void add_scaled(Row16 factor, Row16 other) {
    for (int k = 0; k < columns_at_once; ++k) v[k] += factor.v[k] * other.v[k];
  }
};
struct Keys16 {
  std::uint32_t v[columns_at_once];
  static Keys16 load(const std::uint32_t* p) {
    Keys16 k;
    std::memcpy(k.v, p, sizeof k.v);
    return k;
  }
  void next() {
    for (auto& word : v) word >>= 4;
  }
  Row16 choose(const float* table) const {
    Row16 r;
    for (int k = 0; k < columns_at_once; ++k) r.v[k] = table[v[k] & 15];
    return r;
  }
};
#endif

/// Tables of one block of 32 columns: table s holds, at index k, the sum of x[4 s + j], added where bit j of k is set
/// and subtracted where not.
void make_tables(const float* x, std::int64_t n, float* tables) {
  float padded[32] = {};
  std::copy_n(x, std::min<std::int64_t>(n, 32), padded);
  for (int s = 0; s < 8; ++s) {
    const float* v = padded + 4 * s;
    for (int k = 0; k < columns_at_once; ++k)
      tables[s * columns_at_once + k] =
          ((k & 1 ? v[0] : -v[0]) + (k & 2 ? v[1] : -v[1])) + ((k & 4 ? v[2] : -v[2]) + (k & 8 ? v[3] : -v[3]));
  }
}

struct Tile {
  std::int64_t first, blocks;  ///< blocks of 32 columns
  const float* tables;         ///< [block of columns][input of the batch][8][16]
  int inputs;
};

/// R blocks of rows times C inputs of a tile: C * R sums stay in registers.
template <int R, int C>
void multiply_blocks(const BinaryCodedMatrix& w, const Tile& tile, std::int64_t row_block, int input, float* y,
                     std::int64_t y_stride) {
  Row16 total[R][C];
  for (auto& row : total)
    for (auto& t : row) t = Row16::zero();
  const std::int64_t stride = w.column_blocks() * columns_at_once;
  for (int plane = 0; plane < w.bits; ++plane) {
    Row16 sum[R][C];
    for (auto& row : sum)
      for (auto& s : row) s = Row16::zero();
    const std::uint32_t* signs =
        w.signs.data() + (plane * w.row_blocks() + row_block) * stride + tile.first * columns_at_once;
    for (std::int64_t block = 0; block < tile.blocks; ++block) {
      const float* tables = tile.tables + (block * tile.inputs + input) * 8 * columns_at_once;
      Keys16 keys[R];
      for (int r = 0; r < R; ++r) keys[r] = Keys16::load(signs + r * stride + block * columns_at_once);
#pragma GCC unroll 8
      for (int s = 0; s < 8; ++s)
        for (int r = 0; r < R; ++r) {
          for (int c = 0; c < C; ++c) sum[r][c].add(keys[r].choose(tables + (8 * c + s) * columns_at_once));
          keys[r].next();
        }
    }
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c)
        total[r][c].add_scaled(
            Row16::load(w.scales.data() + (plane * w.row_blocks() + row_block + r) * columns_at_once), sum[r][c]);
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) {
      float* to = y + c * y_stride + (row_block + r) * columns_at_once;
      total[r][c].add(Row16::load(to));
      total[r][c].store(to);
    }
}

template <int C>
void multiply_rows(const BinaryCodedMatrix& w, const Tile& tile, int input, float* y, std::int64_t y_stride) {
  constexpr int R = C == 1 ? 4 : 2;
  std::int64_t b = 0;
  for (; b + R <= w.row_blocks(); b += R) multiply_blocks<R, C>(w, tile, b, input, y, y_stride);
  for (; b < w.row_blocks(); ++b) multiply_blocks<1, C>(w, tile, b, input, y, y_stride);
}

}  // namespace

void multiply(const BinaryCodedMatrix& w, RowsOf<const float> x, std::int64_t batch, bool add, RowsOf<float> y) {
  constexpr std::int64_t tile_inputs = 8;
  const std::int64_t padded = w.row_blocks() * columns_at_once;
  // Tables of a tile stay in the first-level cache: 512 bytes per block of columns and input.
  constexpr std::int64_t tile_tables = 32;
  alignas(64) float tables[tile_tables * 8 * columns_at_once];
  std::vector<float> sums(std::min(batch, tile_inputs) * padded);
  for (std::int64_t k = 0; k < batch; k += tile_inputs) {
    const int inputs = static_cast<int>(std::min(tile_inputs, batch - k));
    const std::int64_t tile_blocks = std::max<std::int64_t>(1, tile_tables / inputs);
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::int64_t first = 0; first < w.column_blocks(); first += tile_blocks) {
      const Tile tile{first, std::min(tile_blocks, w.column_blocks() - first), tables, inputs};
      for (std::int64_t block = 0; block < tile.blocks; ++block)
        for (int c = 0; c < inputs; ++c)
          make_tables(x.data + (k + c) * x.stride + (first + block) * 32, w.columns - (first + block) * 32,
                      tables + (block * inputs + c) * 8 * columns_at_once);
      int c = 0;
      for (; c + 4 <= inputs; c += 4) multiply_rows<4>(w, tile, c, sums.data() + c * padded, padded);
      for (; c < inputs; ++c) multiply_rows<1>(w, tile, c, sums.data() + c * padded, padded);
    }
    for (int c = 0; c < inputs; ++c) {
      const float* from = sums.data() + c * padded;
      float* to = y.data + (k + c) * y.stride;
      for (std::int64_t r = 0; r < w.rows; ++r) to[r] = add ? to[r] + from[r] : from[r];
    }
  }
}

void multiply(const BinaryCodedMatrix& w, const float* x, std::int64_t batch, float* y) {
  multiply(w, {x, w.columns}, batch, false, {y, w.rows});
}

}  // namespace cambium::lowp
