#include "plugins/submatrix/columns/block_exchange.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

double element(int row, int column, int i, int j) { return 1000.0 * row + column + 0.1 * i + 0.01 * j; }

/// Blocks (row, column) with |row - column| <= 2.
BlockColumns band(const std::shared_ptr<const BlockLayout>& layout, int first, int last) {
  BlockColumns out(layout);
  for (int c = first; c < last; ++c) {
    out.start_column(c);
    for (int r = std::max(0, c - 2); r <= std::min(layout->blocks() - 1, c + 2); ++r) {
      double* block = out.add_block(r);
      for (int i = 0; i < layout->size(r); ++i)
        for (int j = 0; j < layout->size(c); ++j) block[i * layout->size(c) + j] = element(r, c, i, j);
    }
  }
  out.finish();
  return out;
}

bool right_values(const BlockColumn& c, int column, const BlockLayout& layout) {
  for (std::size_t e = 0; e < c.rows.size(); ++e)
    for (int i = 0; i < layout.size(c.rows[e]); ++i)
      for (int j = 0; j < layout.size(column); ++j)
        if (c.block(e)[i * layout.size(column) + j] != element(c.rows[e], column, i, j)) return false;
  return true;
}

std::shared_ptr<const BlockLayout> mixed_layout(int blocks) {
  std::vector<int> sizes;
  for (int b = 0; b < blocks; ++b) sizes.push_back(1 + b % 4);
  return std::make_shared<const BlockLayout>(sizes);
}

}  // namespace

TEST_CASE("columns of other ranks arrive with their rows, and only those asked for") {
  const World world;
  const int ranks = world.comm.size(), rank = world.comm.rank(), blocks = 23;
  const auto layout = mixed_layout(blocks);
  const ColumnRanges ranges = ColumnRanges::balanced(std::vector<double>(blocks, 1.0), ranks);
  const BlockColumns own = band(layout, ranges.begin(rank), ranges.end(rank));
  const std::vector<int> wanted{1, 2, 3, 10, 11, 12, 22};
  for (auto rows : {WantedRows::all, WantedRows::among_wanted, WantedRows::upper_among_wanted, WantedRows::owned}) {
    std::int64_t bytes = 0;
    const ColumnSet set = fetch_columns(own, ranges, wanted, rows, world.comm, bytes);
    for (int column : wanted) {
      const BlockColumn c = set(column);
      CHECK(right_values(c, column, *layout));
      if (ranges.owner(column) == rank) continue;
      std::vector<int> expected;
      for (int r = std::max(0, column - 2); r <= std::min(blocks - 1, column + 2); ++r) {
        const bool listed = std::find(wanted.begin(), wanted.end(), r) != wanted.end();
        const bool sent = rows == WantedRows::owned ? ranges.owner(r) == rank
                                                    : rows == WantedRows::all ||
                                                          (listed && (rows == WantedRows::among_wanted || r <= column));
        if (sent) expected.push_back(r);
      }
      CHECK(std::vector<int>(c.rows.begin(), c.rows.end()) == expected);
    }
    if (ranks > 1) CHECK(bytes > 0);
  }
}

TEST_CASE("blocks below the threshold of their column are not sent, diagonal blocks always") {
  const World world;
  const int ranks = world.comm.size(), rank = world.comm.rank(), blocks = 23;
  const auto layout = mixed_layout(blocks);
  const ColumnRanges ranges = ColumnRanges::balanced(std::vector<double>(blocks, 1.0), ranks);
  const BlockColumns own = band(layout, ranges.begin(rank), ranges.end(rank)), all = band(layout, 0, blocks);
  std::vector<int> wanted;
  std::vector<double> least;
  for (int b = 0; b < blocks; ++b) {
    wanted.push_back(b);
    least.push_back(b % 3 == 0 ? 0.0 : b % 3 == 1 ? all.column(b).norms[0] * (1.0 + 1e-5) : 1e40);
  }
  std::int64_t bytes = 0;
  const ColumnSet set = fetch_columns(own, ranges, wanted, WantedRows::all, world.comm, bytes, least);
  for (int b : wanted) {
    if (ranges.owner(b) == rank) continue;
    std::vector<int> expected;
    const BlockColumn whole = all.column(b), c = set(b);
    for (std::size_t e = 0; e < whole.rows.size(); ++e)
      if (whole.norms[e] >= least[b] || whole.rows[e] == b) expected.push_back(whole.rows[e]);
    CHECK(std::vector<int>(c.rows.begin(), c.rows.end()) == expected);
    CHECK(right_values(c, b, *layout));
  }
  CHECK_THROWS_WITH(fetch_columns(own, ranges, wanted, WantedRows::all, world.comm, bytes, std::vector<double>{1.0}),
                    "fetch_columns: one threshold for each wanted column");
}

TEST_CASE("a matrix keeps its values when columns change owners") {
  const World world;
  const int ranks = world.comm.size(), rank = world.comm.rank(), blocks = 17;
  const auto layout = mixed_layout(blocks);
  std::vector<double> cost(blocks, 1.0);
  const ColumnRanges now = ColumnRanges::balanced(cost, ranks);
  cost[0] = 20.0;
  const ColumnRanges then = ColumnRanges::balanced(cost, ranks);
  const BlockColumns moved = redistributed(band(layout, now.begin(rank), now.end(rank)), now, then, world.comm);
  CHECK(std::ssize(moved.columns()) == then.end(rank) - then.begin(rank));
  for (int c : moved.columns()) CHECK(right_values(moved.column(c), c, *layout));
}

TEST_CASE("ranges balance the cost") {
  const std::vector<double> cost{5, 1, 1, 1, 1, 1};
  CHECK(ColumnRanges::balanced(cost, 2).first == std::vector<int>{0, 1, 6});
  CHECK(ColumnRanges::balanced(std::vector<double>(6, 1.0), 3).first == std::vector<int>{0, 2, 4, 6});
  CHECK(ColumnRanges::balanced(std::vector<double>(2, 1.0), 4).first.back() == 2);
  const ColumnRanges ranges{{0, 2, 2, 5}};
  CHECK(ranges.owner(1) == 0);
  CHECK(ranges.owner(2) == 2);
}
