#include "core/numerics/byte_dots.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/base/error.hpp"
#if defined(__AVX512VNNI__)
#include <immintrin.h>
#endif

namespace cambium {

namespace {

constexpr int rows_of_block = ByteRows::block_rows;
constexpr std::ptrdiff_t group_bytes = 4 * rows_of_block;

#if defined(__AVX512VNNI__)
/// `Blocks` of them at once: enough sums to hide the latency of a product.
template <int Blocks>
void multiply_blocks(const std::uint8_t* rows, std::ptrdiff_t groups, const std::int8_t* by, std::int32_t start,
                     std::int32_t* out) {
  __m512i sums[Blocks];
  for (auto& sum : sums) sum = _mm512_set1_epi32(start);
  for (std::ptrdiff_t g = 0; g < groups; ++g) {
    std::int32_t four;
    std::memcpy(&four, by + 4 * g, sizeof four);
    const __m512i right = _mm512_set1_epi32(four);
    for (int b = 0; b < Blocks; ++b)
      sums[b] = _mm512_dpbusd_epi32(sums[b], _mm512_loadu_si512(rows + (b * groups + g) * group_bytes), right);
  }
  for (int b = 0; b < Blocks; ++b) _mm512_storeu_si512(out + b * rows_of_block, sums[b]);
}
#else
template <int Blocks>
void multiply_blocks(const std::uint8_t* rows, std::ptrdiff_t groups, const std::int8_t* by, std::int32_t start,
                     std::int32_t* out) {
  for (int b = 0; b < Blocks; ++b, out += rows_of_block) {
    std::int32_t sums[rows_of_block];
    std::fill_n(sums, rows_of_block, start);
    for (std::ptrdiff_t g = 0; g < groups; ++g, rows += group_bytes)
      for (int r = 0; r < rows_of_block; ++r)
        for (int c = 0; c < 4; ++c) sums[r] += static_cast<std::int32_t>(rows[4 * r + c]) * by[4 * g + c];
    std::copy_n(sums, rows_of_block, out);
  }
}
#endif

constexpr std::uint8_t zero = 128;

}  // namespace

ByteRows::ByteRows(std::int64_t rows, std::int64_t columns)
    : rows_(rows), columns_(columns), groups_((columns + group_columns - 1) / group_columns),
      values_(static_cast<std::size_t>((rows + block_rows - 1) / block_rows * groups_ * group_bytes), zero) {}

ByteRows::ByteRows(std::int64_t rows, std::int64_t columns, std::span<const std::uint8_t> values)
    : ByteRows(rows, columns) {
  if (values.size() != values_.size()) throw InternalError("rows of bytes of another size");
  std::copy(values.begin(), values.end(), values_.begin());
}

void ByteRows::set_row(std::int64_t row, std::span<const std::int8_t> values) {
  std::uint8_t* const block =
      values_.data() + row / block_rows * groups_ * group_bytes + row % block_rows * group_columns;
  for (std::int64_t c = 0; c < columns_; ++c)
    block[c / group_columns * group_bytes + c % group_columns] = static_cast<std::uint8_t>(values[c] + zero);
}

void ByteRows::dots(std::int64_t first, std::int64_t last, const std::int8_t* by, std::int32_t* out) const {
  std::int32_t sum = 0;  // times `zero`: offset of every product due to the stored form
  for (std::int64_t c = 0; c < padded_columns(); ++c) sum += by[c];
  const std::int32_t start = -static_cast<std::int32_t>(zero) * sum;
  constexpr std::int64_t together = 4;
  std::int64_t block = first / block_rows;
  const std::int64_t end = (last + block_rows - 1) / block_rows;
  const auto at = [&](std::int64_t b) { return values_.data() + b * groups_ * group_bytes; };
  for (; block + together <= end; block += together, out += together * block_rows)
    multiply_blocks<together>(at(block), groups_, by, start, out);
  for (; block < end; ++block, out += block_rows) multiply_blocks<1>(at(block), groups_, by, start, out);
}

}  // namespace cambium
