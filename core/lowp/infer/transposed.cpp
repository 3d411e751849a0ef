#include "core/base/error.hpp"
#include "core/lowp/infer/binary_coding.hpp"

namespace cambium::lowp {

std::vector<BinaryCodedMatrix> transposed_planes(const BinaryCodedMatrix& w) {
  std::vector<BinaryCodedMatrix> out;
  for (int plane = 0; plane < w.bits; ++plane) {
    auto& t = out.emplace_back();
    t.rows = w.columns, t.columns = w.rows, t.bits = 1;
    t.signs.assign(static_cast<std::size_t>(t.row_blocks() * t.column_blocks() * BinaryCodedMatrix::block_rows), 0u);
    t.scales.assign(static_cast<std::size_t>(t.row_blocks() * BinaryCodedMatrix::block_rows), 1.0f);
    for (std::int64_t r = 0; r < t.rows; ++r)
      for (std::int64_t c = 0; c < t.columns; ++c) {
        if (!w.positive(plane, c, r)) continue;
        const auto block = r / BinaryCodedMatrix::block_rows * t.column_blocks() + c / BinaryCodedMatrix::block_columns;
        t.signs[static_cast<std::size_t>(block * BinaryCodedMatrix::block_rows + r % BinaryCodedMatrix::block_rows)] |=
            1u << (c % BinaryCodedMatrix::block_columns);
      }
  }
  return out;
}

void multiply_transposed(const BinaryCodedMatrix& w, std::span<const BinaryCodedMatrix> planes, const float* y, std::int64_t batch, float* x) {
  if (std::ssize(planes) != w.bits) throw InternalError("multiply_transposed: planes of another matrix");
  std::vector<float> scaled(static_cast<std::size_t>(batch * w.rows)), part(static_cast<std::size_t>(batch * w.columns));
  std::fill_n(x, part.size(), 0.0f);
  for (int plane = 0; plane < w.bits; ++plane) {
    for (std::int64_t k = 0; k < batch; ++k)
      for (std::int64_t r = 0; r < w.rows; ++r) scaled[static_cast<std::size_t>(k * w.rows + r)] = y[k * w.rows + r] * w.scale(plane, r);
    multiply(planes[static_cast<std::size_t>(plane)], scaled.data(), batch, part.data());
    for (std::size_t at = 0; at < part.size(); ++at) x[at] += part[at];
  }
}

}  // namespace cambium::lowp
