#include <algorithm>
#include <cstdio>
#include <set>

#include "core/base/error.hpp"
#include "plugins/graph/tiles/orders.hpp"
#include "plugins/graph/tiles/parts.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/made_matrices.hpp"

using namespace cambium;
using namespace cambium::sparse;
using namespace cambium::sparse::test;

namespace {

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

/// A path through all numbers of a grid, numbered by a fixed mixing.
std::int32_t mixed_number(std::int32_t node, std::int32_t nodes) {
  return static_cast<std::int32_t>(node * 379LL % nodes);
}

/// nx x ny points of a grid, badly numbered; nx * ny without the factor 379.
Csr<double> grid(std::int32_t nx, std::int32_t ny) {
  std::vector<Entry> entries;
  const auto node = [&](std::int32_t x, std::int32_t y) { return mixed_number(x + nx * y, nx * ny); };
  for (std::int32_t y = 0; y < ny; ++y)
    for (std::int32_t x = 0; x < nx; ++x) {
      entries.push_back({node(x, y), node(x, y), 4.0});
      if (x + 1 < nx) entries.push_back({node(x, y), node(x + 1, y), -1.0});  // one direction only
      if (y + 1 < ny) entries.push_back({node(x, y + 1), node(x, y), -1.0});
    }
  return csr_from_entries(nx * ny, nx * ny, entries).matrix;
}

std::int64_t bandwidth(const Csr<double>& a) {
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t j : a.columns_of(i)) out = std::max<std::int64_t>(out, std::abs(i - j));
  return out;
}

bool holds_all(const std::vector<std::int32_t>& order, std::int64_t nodes) {
  std::vector<std::int32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t k = 0; k < nodes; ++k)
    if (sorted.at(at(k)) != k) return false;
  return std::ssize(order) == nodes;
}

/// `n` cliques of `size` nodes, numbered in turns, each with an edge to the next.
Csr<double> cliques(std::int32_t n, std::int32_t size) {
  std::vector<Entry> entries;
  for (std::int32_t c = 0; c < n; ++c) {
    for (std::int32_t i = 0; i < size; ++i)
      for (std::int32_t j = 0; j < size; ++j)
        if (i != j) entries.push_back({c + n * i, c + n * j, 1.0});
    if (c + 1 < n) entries.push_back({c, c + 1 + n, 1.0});
  }
  return csr_from_entries(n * size, n * size, entries).matrix;
}

}  // namespace

TEST_CASE("neighbours are those of either direction, without the node itself") {
  const auto g =
      neighbours_of(csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1}, {0, 2, 1}, {2, 0, 1}, {3, 2, 1}}).matrix);
  CHECK(g.start == std::vector<std::int64_t>{0, 1, 1, 3, 4});
  CHECK(g.node == std::vector<std::int32_t>{2, 0, 3, 2});
  CHECK_THROWS_AS(neighbours_of(csr_from_entries(2, 3, {}).matrix), InternalError);
}

TEST_CASE("orders hold every node once, also where nodes stand alone") {
  for (const auto& a : {grid(20, 31), random_matrix(97, 97, 1.0, 3), csr_from_entries(1, 1, {}).matrix,
                        csr_from_entries(9, 9, {}).matrix, csr_from_entries(0, 0, {}).matrix}) {
    const auto g = neighbours_of(a);
    CHECK(holds_all(degree_order(g), a.rows));
    CHECK(holds_all(reverse_cuthill_mckee(g), a.rows));
    CHECK(holds_all(community_order(g), a.rows));
  }
}

TEST_CASE("the degree falls along the order of degrees") {
  const auto g = neighbours_of(random_matrix(80, 80, 5.0, 2));
  const auto order = degree_order(g);
  for (std::size_t k = 1; k < order.size(); ++k) {
    CHECK(g.degree(order[k - 1]) >= g.degree(order[k]));
    if (g.degree(order[k - 1]) == g.degree(order[k])) CHECK(order[k - 1] < order[k]);
  }
}

TEST_CASE("reverse Cuthill-McKee brings a grid to the width of its shorter side") {
  const auto a = grid(20, 31);
  const auto b = permuted(a, reverse_cuthill_mckee(neighbours_of(a)));
  CHECK(bandwidth(a) > 300);
  CHECK(bandwidth(b) <= 21);
}

TEST_CASE("communities of joined cliques are the cliques; they lie together in the order") {
  const auto a = cliques(8, 12);
  const auto g = neighbours_of(a);
  const auto label = communities(g);
  for (std::int32_t c = 0; c < 8; ++c)
    for (std::int32_t i = 1; i < 12; ++i) CHECK(label[at(c + 8 * i)] == label[at(c)]);
  CHECK(std::set<std::int32_t>(label.begin(), label.end()).size() == 8);
  CHECK(bandwidth(a) > 80);
  const auto order = community_order(g);
  for (std::size_t k = 0; k < order.size(); ++k) CHECK(label[at(order[k])] == label[at(order[k - k % 12])]);
}

TEST_CASE("contiguous parts are as equal as ranges can be") {
  const std::vector<double> work{4, 1, 1, 1, 1, 2, 2, 4};
  const Parts p = contiguous_parts(4, work);
  CHECK(p.first == std::vector<std::int64_t>{0, 1, 5, 7, 8});
  CHECK(p.order == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(imbalance(p, work) == Approx(1.0));
  CHECK(contiguous_parts(3, std::vector<double>(9, 0.0)).first == std::vector<std::int64_t>{0, 3, 6, 9});
  CHECK(contiguous_parts(3, std::vector<double>{1.0}).order.size() == 1);
  CHECK(contiguous_parts(2, {}).first == std::vector<std::int64_t>{0, 0, 0});
  CHECK_THROWS_AS(contiguous_parts(0, work), InternalError);
  CHECK_THROWS_AS(contiguous_parts(2, std::vector<double>{1.0, -1.0}), InternalError);
}

TEST_CASE("parts of a graph: equal work, few rows needed of others; without METIS a warning") {
  const auto a = grid(40, 41);
  const auto g = neighbours_of(a);
  std::vector<double> work;
  for (std::int64_t i = 0; i < a.rows; ++i) work.push_back(static_cast<double>(1 + g.degree(i)));
  Log log;
  for (int n : {1, 2, 4, 8}) {
    const Parts p = divided(g, n, work, log);
    CHECK(p.parts() == n);
    CHECK(holds_all(p.order, a.rows));
    for (int k = 0; k < n; ++k)
      CHECK(std::is_sorted(p.order.begin() + p.first[at(k)], p.order.begin() + p.first[at(k) + 1]));
    CHECK(imbalance(p, work) < 1.1);
    if (has_metis() && n > 1) {
      CHECK(p.method.starts_with("METIS "));
      CHECK(needed_rows(g, p) < 60 * n);                                         // borders of about 40 nodes
      CHECK(needed_rows(g, contiguous_parts(n, work)) > 8 * needed_rows(g, p));  // of a bad numbering
    }
  }
  if (has_metis()) {
    CHECK(log.warnings().empty());
  } else {
    REQUIRE(log.warnings().size() == 1);
    CHECK(log.warnings()[0].text ==
          "this build has no METIS: the graph is divided into contiguous ranges of nodes, which exchange more rows "
          "(install METIS, Debian's libmetis-dev, and configure again)");
  }
  CHECK(divided(neighbours_of(csr_from_entries(3, 3, {}).matrix), 2, std::vector<double>(3, 1.0), log).method ==
        "contiguous");
}

TEST_CASE("no part of a small graph is left empty") {
  std::uint64_t state = 7;
  const auto draw = [&](std::int32_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int32_t>((state >> 33) % static_cast<std::uint64_t>(below));
  };
  Log log(nullptr);
  for (const std::int32_t nodes : {32, 48, 64, 96, 160})
    for (const std::int32_t degree : {3, 6, 12, nodes / 2}) {
      std::vector<Entry> entries;
      for (std::int32_t k = 0; k < nodes * degree / 2; ++k) entries.push_back({draw(nodes), draw(nodes), 1.0});
      const auto graph = neighbours_of(csr_from_entries(nodes, nodes, entries).matrix);
      const std::vector<double> work(at(nodes), 1.0);
      for (const int parts : {2, 5, 8, 12, 16, 24, 40}) {
        if (nodes < 4 * parts) continue;
        const auto found = divided(graph, parts, work, log);
        INFO(nodes << " nodes, degree " << degree << ", " << parts << " parts by " << found.method);
        for (int p = 0; p < parts; ++p) CHECK(found.first[at(p)] < found.first[at(p) + 1]);
      }
    }
}

TEST_CASE("needed rows are nodes of other parts, each once for each part that asks") {
  // 0 - 1 - 2 - 3 and 0 - 2: parts {0, 1}, {2, 3}: the first needs 2, the second 0 and 1.
  const auto g =
      neighbours_of(csr_from_entries(4, 4, std::vector<Entry>{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {0, 2, 1}}).matrix);
  CHECK(needed_rows(g, contiguous_parts(2, std::vector<double>(4, 1.0))) == 3);
}
