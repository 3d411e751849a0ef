#include "core/lowp/binary_coding.hpp"

namespace cambium::lowp {

static std::int64_t padded_rows(const BinaryCodedMatrix& w) {
  constexpr std::int64_t block = BinaryCodedMatrix::block_columns;
  return (w.rows + block - 1) / block * block;
}

BinaryCodedMatrix transposed_planes(const BinaryCodedMatrix& w) {
  constexpr std::int64_t block_rows = BinaryCodedMatrix::block_rows;
  BinaryCodedMatrix t;
  t.rows = w.columns;
  t.columns = w.bits * padded_rows(w);
  t.bits = 1;
  t.signs.assign(t.row_blocks() * t.column_blocks() * block_rows, 0u);
  t.scales.assign(t.row_blocks() * block_rows, 1.0f);
  for (int plane = 0; plane < w.bits; ++plane)
    for (std::int64_t r = 0; r < w.columns; ++r)
      for (std::int64_t k = 0; k < w.rows; ++k) t.set(0, r, plane * padded_rows(w) + k, w.positive(plane, k, r));
  return t;
}

void multiply_transposed(const BinaryCodedMatrix& w, const BinaryCodedMatrix& planes, RowsOf<const float> y,
                         std::int64_t batch, bool add, RowsOf<float> x) {
  constexpr std::int64_t most = 64;  // rows at a time: the scaled copies stay in the cache
  const std::int64_t padded = padded_rows(w), scales = w.row_blocks() * BinaryCodedMatrix::block_rows;
  std::vector<float> scaled(std::min(batch, most) * planes.columns);
  for (std::int64_t first = 0; first < batch; first += most) {
    const std::int64_t count = std::min(most, batch - first);
    for (std::int64_t k = 0; k < count; ++k)
      for (int plane = 0; plane < w.bits; ++plane) {
        float* to = scaled.data() + k * planes.columns + plane * padded;
        const float *from = y.data + (first + k) * y.stride, *scale = w.scales.data() + plane * scales;
        for (std::int64_t r = 0; r < w.rows; ++r) to[r] = from[r] * scale[r];
      }
    multiply(planes, {scaled.data(), planes.columns}, count, add, {x.data + first * x.stride, x.stride});
  }
}

}  // namespace cambium::lowp
