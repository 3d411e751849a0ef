// Products of rows of bytes beside plain sums.
#include <numeric>
#include <vector>

#include "core/numerics/byte_dots.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

std::int8_t random_byte(std::int64_t row, std::int64_t column) {
  const double u =
      Random4(7, Stream::test, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column)).uniform(0);
  return static_cast<std::int8_t>(static_cast<int>(u * 255.0) - 127);
}

}  // namespace

TEST_CASE("products of bytes are plain sums, to the last unit") {
  for (const std::int64_t rows : {1, 16, 47, 200})
    for (const std::int64_t columns : {1, 4, 13, 128}) {
      ByteRows bytes(rows, columns);
      std::vector<std::vector<std::int8_t>> plain;
      for (std::int64_t r = 0; r < rows; ++r) {
        auto& row = plain.emplace_back();
        for (std::int64_t c = 0; c < columns; ++c) row.push_back(random_byte(r, c));
        bytes.set_row(r, row);
      }
      std::vector<std::int8_t> by(bytes.padded_columns(), 0);
      for (std::int64_t c = 0; c < columns; ++c) by[c] = random_byte(-1, c);
      const ByteRows copy(rows, columns, bytes.values());
      const std::int64_t first = rows > 100 ? 32 : 0;
      std::vector<std::int32_t> out(rows - first + 15);
      copy.dots(first, rows, by.data(), out.data());
      for (std::int64_t r = first; r < rows; ++r)
        REQUIRE(out[r - first] == std::inner_product(plain[r].begin(), plain[r].end(), by.begin(), 0));
    }
}

TEST_CASE("the largest bytes do not overflow") {
  ByteRows bytes(16, 128);
  const std::vector<std::int8_t> least(128, -127), most(128, 127);
  bytes.set_row(3, least);
  bytes.set_row(4, most);
  std::vector<std::int32_t> out(16);
  bytes.dots(0, 16, least.data(), out.data());
  CHECK(out[3] == 128 * 127 * 127);
  CHECK(out[4] == -128 * 127 * 127);
  CHECK(out[5] == 0);
}
