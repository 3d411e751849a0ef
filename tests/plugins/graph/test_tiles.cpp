#include <limits>

#include "core/base/error.hpp"
#include "plugins/graph/tiles/hybrid.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/made_matrices.hpp"

using namespace cambium;
using namespace cambium::sparse;
using namespace cambium::sparse::test;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Dense from about half of the places on, bitmap from a quarter on, so that all three forms occur.
const TileCosts mixed{1.0, 1.2, 1.0, 0.5}, all_dense{never, 1.0, never, never}, all_bitmap{never, never, 1.0, 1.0},
    all_rows{1.0, never, never, never};

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// The entries of a split as a list, and how many numbers of dense tiles are none.
template <class T>
std::vector<Entry> entries_of(const Split<T>& s, std::int64_t& zeros) {
  std::vector<Entry> out;
  zeros = 0;
  for (std::size_t p = 0; p + 1 < s.panels.size(); ++p) {
    const Panel& panel = s.panels[p];
    const int strips = (panel.rows + strip_rows - 1) / strip_rows;
    for (auto d = panel.dense; d < s.panels[p + 1].dense; ++d) {
      const DenseTile& t = s.dense[at(d)];
      for (int strip = 0; strip < strips; ++strip)
        for (int k = 0; k < t.columns; ++k)
          for (int r = 0; r < strip_rows; ++r) {
            const T value = s.dense_values[at(t.values + (strip * t.columns + k) * strip_rows + r)];
            if (value == T(0))
              ++zeros;
            else
              out.push_back({panel.first + strip * strip_rows + r, t.column + k, static_cast<double>(value)});
          }
    }
    for (auto b = panel.bitmap; b < s.panels[p + 1].bitmap; ++b) {
      const BitmapTile& t = s.bitmap[at(b)];
      auto value = t.values;
      for (int r = 0; r < tile_rows; ++r)
        for (int k = 0; k < tile_columns; ++k)
          if (t.mask[r] >> k & 1)
            out.push_back({panel.first + r, t.column + k, static_cast<double>(s.bitmap_values[at(value++)])});
    }
  }
  for (std::int64_t i = 0; i < s.rows.rows; ++i)
    for (std::size_t e = 0; e < s.rows.length(i); ++e)
      out.push_back(
          {static_cast<std::int32_t>(i), s.rows.columns_of(i)[e], static_cast<double>(s.rows.values_of(i)[e])});
  return out;
}

/// Every entry of `a` once, nothing else, and counts that agree.
template <class T>
void check_split(const Csr<T>& a, const TileCosts& costs) {
  const Split<T> s = split_into_tiles(a, costs);
  std::int64_t zeros = 0;
  const auto entries = entries_of(s, zeros);
  CHECK(std::ssize(entries) == a.entries());
  const auto back = csr_from_entries(a.rows, a.columns, entries);
  CHECK(back.duplicates == 0);
  CHECK(back.matrix.start == a.start);
  CHECK(back.matrix.column == a.column);
  CHECK(back.matrix.value == converted<double>(a).value);
  CHECK(s.count.dense_entries + s.count.bitmap_entries + s.count.row_entries == a.entries());
  CHECK(s.count.padded_zeros == zeros);
  CHECK(s.count.dense_tiles == std::ssize(s.dense));
  CHECK(s.count.bitmap_tiles == std::ssize(s.bitmap));
  std::int64_t rows = 0;
  for (const Panel& p : s.panels) {
    CHECK(p.first == rows);
    CHECK(p.rows <= tile_rows);
    rows += p.rows;
  }
  CHECK(rows == a.rows);
}

/// A matrix of all densities: full and half full blocks, and entries far from them.
Csr<double> mixed_matrix() {
  std::vector<Entry> entries = random_entries(300, 300, 2.0, 71);
  const auto blocks = block_diagonal(24, 3, 72);
  for (std::int64_t i = 0; i < blocks.rows; ++i)
    for (std::size_t e = 0; e < blocks.length(i); ++e)
      entries.push_back({static_cast<std::int32_t>(i), blocks.columns_of(i)[e], blocks.values_of(i)[e]});
  for (std::int32_t i = 240; i < 290; ++i)
    for (std::int32_t j = 100; j < 140; ++j)
      if ((i * 3 + j) % 3 == 0) entries.push_back({i, j, 0.25 * i - j});
  return csr_from_entries(300, 300, entries).matrix;
}

}  // namespace

TEMPLATE_TEST_CASE("the three parts of a split hold every entry once", "", double, float) {
  const std::vector<Csr<double>> matrices{mixed_matrix(),
                                          block_diagonal(20, 0, 1),
                                          random_matrix(61, 47, 9.0, 3),
                                          random_matrix(40, 400, 25.0, 4),
                                          csr_from_entries(1, 1, std::vector<Entry>{{0, 0, 2.0}}).matrix,
                                          csr_from_entries(17, 17, {}).matrix,
                                          csr_from_entries(0, 0, {}).matrix,
                                          csr_from_entries(5, 0, {}).matrix};
  for (const auto& exact : matrices)
    for (const TileCosts& costs : {mixed, all_dense, all_bitmap, all_rows})
      check_split(converted<TestType>(exact), costs);
}

TEST_CASE("costs decide the form; blocks on the diagonal are tiles of their own") {
  const auto a = mixed_matrix();
  const auto count = split_into_tiles(a, mixed).count;
  CHECK(count.dense_entries > 0);
  CHECK(count.bitmap_entries > 0);
  CHECK(count.row_entries > 0);
  CHECK(split_into_tiles(a, all_rows).count.row_entries == a.entries());
  CHECK(split_into_tiles(a, all_bitmap).count.bitmap_entries == a.entries());
  CHECK(split_into_tiles(a, all_dense).count.dense_entries == a.entries());

  std::vector<Entry> entries;
  for (std::int32_t block = 0; block < 6; ++block)
    for (std::int32_t i = 0; i < 12; ++i)
      for (std::int32_t j = 0; j < 12; ++j) entries.push_back({12 * block + i, 12 * block + j, 1.0});
  const auto molecules = split_into_tiles(csr_from_entries(72, 72, entries).matrix, mixed);
  CHECK(molecules.count.dense_tiles == 6);
  CHECK(molecules.count.padded_zeros == 0);
}

TEMPLATE_TEST_CASE("products of tiles equal plain sums", "", double, float) {
  const double allowed = std::is_same_v<TestType, double> ? 1e-13 : 1e-5;
  for (const auto& exact : {mixed_matrix(), block_diagonal(20, 4, 1), random_matrix(61, 47, 9.0, 3),
                            csr_from_entries(1, 1, std::vector<Entry>{{0, 0, 2.0}}).matrix})
    for (const TileCosts& costs : {mixed, all_dense, all_bitmap, all_rows}) {
      const HybridMatrix<TestType> a(converted<TestType>(exact), costs);
      for (std::int64_t width : {1, 2, 3, 4, 7, 8, 16, 20, 33, 40, 64, 100, 128})
        for (bool add : {false, true}) {
          Filled<TestType> h(exact.columns, width, 3, TestType(7), 5), out(exact.rows, width, 2, TestType(9), 6);
          const Filled<TestType> before = out;
          a.multiply(h.all(), out.all(), add);
          INFO(exact.rows << " x " << exact.columns << ", width " << width);
          CHECK(product_error(a.rows(), h, out, add ? &before : nullptr) <= allowed);
          for (std::int64_t i = 0; i < out.rows; ++i) CHECK(out.at(i, width) == TestType(9));
        }
    }
}

TEST_CASE("the form is chosen by times taken, and may be asked for") {
  const auto a = block_diagonal(60, 0, 1);
  Filled<double> h(a.columns, 16, 0, 0.0, 1);
  for (TileUse use : {TileUse::automatic, TileUse::rows, TileUse::tiles}) {
    const HybridMatrix<double> m(a, 16, use);
    Filled<double> out(a.rows, 16, 0, 0.0);
    m.multiply(h.all(), out.all());
    CHECK(product_error(a, h, out, nullptr) <= 1e-13);
    const TileCount& c = m.count();
    CHECK(c.dense_entries + c.bitmap_entries + c.row_entries == a.entries());
    if (use == TileUse::rows) CHECK(!m.uses_tiles());
    if (use == TileUse::tiles) CHECK(m.uses_tiles());
    CHECK(m.text().find(" % of " + std::to_string(a.entries()) + " entries") != std::string::npos);
  }
  const TileCosts& costs = tile_costs<double>(16);
  CHECK(costs.entry > 0.0);
  CHECK(costs.strip > 0.0);
  CHECK(&costs == &tile_costs<double>(16));
  CHECK_THROWS_AS(HybridMatrix<double>(a, 0), InternalError);
}
