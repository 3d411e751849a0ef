#include <cmath>

#include "core/sparse/column_cosines.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/made_matrices.hpp"

using namespace cambium;
using namespace cambium::sparse;

TEST_CASE("scores by item-item cosines are those of the dense matrix, whatever its values") {
  // 40 rows of 17 columns; column 16 and row 3 are empty.
  std::vector<Entry> entries;
  std::vector<std::vector<double>> dense(40, std::vector<double>(17, 0.0));
  for (std::int32_t r = 0; r < 40; ++r)
    for (std::int32_t c = 0; c < 16; ++c)
      if (r != 3 && (7 * r + c * c + r * c) % 5 == 0) {
        entries.push_back({r, c, 1.0 + 0.25 * c});
        dense[r][c] = 1.0;
      }
  const ColumnCosines cosines(converted<float>(csr_from_entries(40, 17, entries).matrix));
  const auto product = [&](int i, int j) {
    double out = 0.0;
    for (const auto& row : dense) out += row[i] * row[j];
    return out;
  };
  std::vector<double> found(17, -1.0);
  for (const int row : {0, 3, 19, 39}) {
    cosines.scores(row, found);
    for (int i = 0; i < 17; ++i) {
      double expected = 0.0;
      for (int j = 0; j < 17; ++j)
        if (dense[row][j] > 0.0 && product(i, j) > 0.0)
          expected += product(i, j) / std::sqrt(product(i, i) * product(j, j));
      CHECK_THAT(found[i], Catch::Matchers::WithinAbs(expected, 1e-12));
    }
  }
}
