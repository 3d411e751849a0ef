#include "apps/cambium/plan/graph_plan.hpp"

#include <nlohmann/json.hpp>

#include "core/sparse/divided_product.hpp"
#include "tests/catch.hpp"
#include "tests/core/sparse/divided_samples.hpp"

using namespace cambium;
using namespace cambium::train;
using sparse::test::random_matrix;

namespace {

/// One link between all devices: 1 GB/s, 1 us, used in full.
Machine plain_machine() {
  Machine m;
  m.name = "plain";
  m.peak = 1e9;
  m.reached_peak = 1.0;
  m.memory = 1e9;
  m.memory_bandwidth = 8e9;
  m.reached_links = 1.0;
  m.levels = {{"system", {}, 1e9, 1e-6}};
  return m;
}

const PlannedGraph& layout(const std::vector<PlannedGraph>& all, const std::string& name) {
  for (const auto& p : all)
    if (p.name == name) return p;
  FAIL("no layout " << name);
  return all.front();
}

/// Nodes on a ring: each hears its two neighbours.
sparse::Csr<double> ring(std::int32_t n) {
  std::vector<sparse::Entry> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, (i + 1) % n, 1.0});
    entries.push_back({(i + 1) % n, i, 1.0});
  }
  return sparse::csr_from_entries(n, n, entries).matrix;
}

}  // namespace

TEST_CASE("an epoch on a ring: words, seconds and the best layout, by hand") {
  const GraphWork work{ring(1000), {{30, 8, false}, {8, 4}}, 8};
  const auto first = sparse::equal_ranges(1000, 4);
  const auto all = plan_graph(work, first, plain_machine());
  REQUIRE(all.size() == 4);  // rows, needed_rows, 1.5D with two copies, 2D; 4 is no cube
  // 8 + 8 columns for the first layer, 4 + 4 for the second; 750 rows of others, or the two at the ends.
  const auto& rows = layout(all, "rows");
  CHECK(rows.words == 24 * 750);
  CHECK(layout(all, "needed_rows").words == 24 * 2);
  CHECK(rows.bytes == 8.0 * 24 * 750);
  CHECK(rows.entries == 0);
  // 500 entries times columns on each rank: 8 bytes of memory each, or 2 operations each, which is slower here. The
  // first layer's products with weights are two, the second's three.
  const double products = 2.0 * 500 * 24 / 1e9, dense = (4.0 * 250 * 30 * 8 + 6.0 * 250 * 8 * 4) / 1e9;
  CHECK(rows.computing == Approx(products + dense));
  const auto message = [](double columns) { return 750.0 * columns * 8.0 / 1e9 + 3e-6; };
  CHECK(rows.exchanging == Approx(2 * message(8) + 2 * message(4)));
  CHECK(rows.seconds == Approx(rows.exchanging + dense));  // messages take longer than the products that hide them
  const auto& needed = layout(all, "needed_rows");
  CHECK(needed.seconds == Approx(products + dense));  // all hidden
  CHECK(all.front().name == "needed_rows");
  for (std::size_t k = 1; k < all.size(); ++k) CHECK(all[k - 1].seconds <= all[k].seconds);
  // On the grid whole rows of 30 + 8 and 8 + 4 columns are put together from halves.
  CHECK(layout(all, "grid_2d").words == 12 * 500 + 500 * (19 + 6));
  const auto page = graph_page(work, all);
  CHECK(page.front() == "1000 nodes, 2000 entries, 2 layers: one epoch");
  CHECK(page.back() == "  (words, entries and MB: what the busiest rank receives; best: layout needed_rows)");
  CHECK(graph_figures(needed)["words"] == 48);
}

TEST_CASE("plans for thousands of ranks allocate nothing of a run") {
  const GraphWork work{random_matrix(5000, 6, true, 3), {{64, 64}}, 4};
  for (int ranks : {1, 64, 729, 4096}) {
    const auto all = plan_graph(work, ranges_of_equal_entries(work.matrix, ranks), plain_machine());
    CHECK(all.size() >= 2);
    for (const auto& p : all) CHECK(((p.seconds > 0.0) && (ranks > 1 || p.words == 0)));
  }
}

TEST_CASE("ranges with equal entries") {
  const auto a = random_matrix(300, 5, false, 4);
  const auto first = ranges_of_equal_entries(a, 7);
  CHECK(first.size() == 8);
  CHECK(first.front() == 0);
  CHECK(first.back() == 300);
  for (std::size_t r = 0; r < 7; ++r) {
    const auto entries = a.start[first[r + 1]] - a.start[first[r]];
    CHECK(std::abs(static_cast<double>(entries) - static_cast<double>(a.entries()) / 7) < 12.0);
  }
}
