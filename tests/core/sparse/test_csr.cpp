#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.hpp"
#include "core/numerics/bfloat16.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/made_matrices.hpp"

using namespace cambium;
using namespace cambium::sparse;
using namespace cambium::sparse::test;

TEST_CASE("entries in any order become ascending rows; duplicates are summed in their order and counted") {
  const std::vector<Entry> entries{{2, 1, 1.0}, {0, 3, 2.0}, {2, 0, 4.0}, {2, 1, 0.5}, {0, 3, 1e-20}, {2, 2, -1.0}};
  const auto [a, duplicates] = csr_from_entries(4, 5, entries);
  CHECK(duplicates == 2);
  CHECK(a.rows == 4);
  CHECK(a.columns == 5);
  CHECK(a.start == std::vector<std::int64_t>{0, 1, 1, 4, 4});
  CHECK(a.column == std::vector<std::int32_t>{3, 0, 1, 2});
  CHECK(a.value == std::vector<double>{2.0 + 1e-20, 4.0, 1.5, -1.0});
}

TEST_CASE("a matrix without entries, rows or columns is one") {
  const Csr<double> none = csr_from_entries(0, 0, {}).matrix, rows = csr_from_entries(3, 0, {}).matrix,
                    columns = csr_from_entries(0, 3, {}).matrix;
  CHECK(none.entries() == 0);
  CHECK(rows.start == std::vector<std::int64_t>{0, 0, 0, 0});
  CHECK(transposed(rows).rows == 0);
  CHECK(transposed(columns).start == std::vector<std::int64_t>{0, 0, 0, 0});
}

TEST_CASE("what is no entry is named with its number") {
  const auto refused = [](std::int64_t rows, std::int64_t columns, Entry e, const std::string& text) {
    CHECK_THROWS_WITH(csr_from_entries(rows, columns, std::vector<Entry>{{0, 0, 1.0}, e}), text);
  };
  refused(3, 4, {3, 0, 1.0}, "entry 1 of a sparse matrix: row 3 is none of the 3 there are (0 to 2)");
  refused(3, 4, {0, -1, 1.0}, "entry 1 of a sparse matrix: column -1 is none of the 4 there are (0 to 3)");
  refused(3, 4, {2, 1, std::nan("")},
          "entry 1 of a sparse matrix (row 2, column 1): the value is nan, not a finite number");
  CHECK_THROWS_WITH(csr_from_entries(2, 0, std::vector<Entry>{{1, 0, 1.0}}),
                    "entry 0 of a sparse matrix: column 0 is none of the 0 there are");
  CHECK_THROWS_WITH(csr_from_entries(-1, 2, {}), "a sparse matrix of -1 x 2: both must be between 0 and 2147483647");
}

TEST_CASE("the transpose of the transpose is the matrix; entries change places") {
  const auto a = random_matrix(40, 23, 4.0, 1);
  const auto b = transposed(a), c = transposed(b);
  CHECK(b.rows == 23);
  CHECK(c.start == a.start);
  CHECK(c.column == a.column);
  CHECK(c.value == a.value);
  double dense[23][40] = {};
  for (std::int64_t j = 0; j < b.rows; ++j)
    for (std::size_t e = 0; e < b.length(j); ++e) {
      if (e > 0) CHECK(b.columns_of(j)[e - 1] < b.columns_of(j)[e]);
      dense[j][b.columns_of(j)[e]] = b.values_of(j)[e];
    }
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::size_t e = 0; e < a.length(i); ++e) CHECK(dense[a.columns_of(i)[e]][i] == a.values_of(i)[e]);
}

TEST_CASE("a permuted matrix has its rows and columns in the new order, and goes back") {
  const auto a = random_matrix(31, 31, 5.0, 2);
  std::vector<std::int32_t> order, back(31);
  for (std::int32_t k = 0; k < 31; ++k) order.push_back((k * 7 + 3) % 31);
  for (std::int32_t k = 0; k < 31; ++k) back[order[k]] = k;
  const auto b = permuted(a, order), c = permuted(b, back);
  CHECK(b.column != a.column);
  CHECK(c.start == a.start);
  CHECK(c.column == a.column);
  CHECK(c.value == a.value);
  for (std::int64_t k = 0; k < 31; ++k)
    for (std::size_t e = 1; e < b.length(k); ++e) CHECK(b.columns_of(k)[e - 1] < b.columns_of(k)[e]);
  CHECK(b.length(5) == a.length(order[5]));
  order[3] = order[4];
  CHECK_THROWS_AS(permuted(a, order), InternalError);
}

TEST_CASE("values become bfloat16 in one rounding") {
  // 1 + 2^-8 lies between 1 and 1 + 2^-7; a little above it rounds up, though it is a tie once it is a float.
  const auto a = csr_from_entries(
      1, 4,
      std::vector<Entry>{
          {0, 0, 1.0 + 0x1p-8}, {0, 1, 1.0 + 0x1p-8 + 0x1p-40}, {0, 2, 1.0 + 0x1p-8 - 0x1p-40}, {0, 3, -3.0}});
  const auto b = converted<Bf16>(a.matrix);
  CHECK(static_cast<float>(b.value[0]) == 1.0F);
  CHECK(static_cast<float>(b.value[1]) == 1.0078125F);
  CHECK(static_cast<float>(b.value[2]) == 1.0F);
  CHECK(static_cast<float>(b.value[3]) == -3.0F);
  CHECK(converted<double>(b).value[1] == 1.0078125);
  CHECK(converted<float>(a.matrix).value[0] == 1.00390625F);
}
