// Tiles of a graph's matrix in the products of a network on its nodes: the same numbers, to rounding.
#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "core/sparse/divided_product.hpp"
#include "plugins/graph/layers/spread.hpp"
#include "plugins/graph/tiles/hybrid.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

/// Blocks of 12 nodes that all hear each other, with another weight for each pair and direction, as a graph of
/// molecules has them, and an edge to the next block.
sparse::Csr<double> blocks(std::int64_t nodes) {
  std::vector<sparse::Entry> entries;
  for (std::int32_t i = 0; i < nodes; ++i) {
    for (std::int32_t j = i - i % 12; j < std::min<std::int64_t>(i - i % 12 + 12, nodes); ++j)
      entries.push_back(
          {i, j, 0.1 + Random4(5, Stream::test, static_cast<std::uint64_t>(i * nodes + j), 0).uniform(0)});
    if (i % 12 == 0 && i > 0) entries.push_back({i, i - 1, 0.7});
  }
  return sparse::csr_from_entries(nodes, nodes, entries).matrix;
}

std::vector<double> numbers(std::int64_t count) {
  std::vector<double> out;
  for (std::int64_t k = 0; k < count; ++k)
    out.push_back(Random4(9, Stream::test, static_cast<std::uint64_t>(k), 0).normal(0));
  return out;
}

double worst(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0.0, size = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    most = std::max(most, std::abs(a[k] - b[k]));
    size = std::max(size, std::abs(a[k]));
  }
  return most / size;
}

std::string stage(const std::string& keys) {
  return "{network: {type: gcn, layers: [8], precision: float64" + keys + "}, dataset: {type: graph, " + small_graph +
         "}, loader: full_graph, epochs: 10, optimizer: adam, learning_rate: {type: constant, start: 0.01}, reduce: "
         "{mode: fast}}";
}

}  // namespace

TEST_CASE("products by tiles are those by rows, in both directions and any width") {
  const Comm comm;
  const std::int64_t nodes = 130, own = nodes * (comm.rank() + 1) / comm.size() - nodes * comm.rank() / comm.size();
  const auto matrix = blocks(nodes);
  const auto mine = sparse::own_rows(matrix, sparse::equal_ranges(nodes, comm.size()), comm.rank());
  const auto rows = make_spread<double>(mine, {}, comm), tiles = make_spread<double>(mine, {}, comm);
  tiles->use_tiles(sparse::TileUse::tiles);
  const auto plain = rows->bytes();
  for (const std::int64_t width : {1, 3, 16, 37, 16}) {
    const auto h = numbers(own * width);
    std::vector<double> right(h.size()), found(h.size());
    rows->multiply({h.data(), own, width, width}, {right.data(), own, width, width});
    tiles->multiply({h.data(), own, width, width}, {found.data(), own, width, width});
    CHECK(worst(right, found) < 1e-14);
    rows->multiply_transposed({h.data(), own, width, width}, {right.data(), own, width, width});
    tiles->multiply_transposed({h.data(), own, width, width}, {found.data(), own, width, width});
    CHECK(worst(right, found) < 1e-14);
  }
  CHECK(rows->tiles().empty());
  CHECK(tiles->tiles().size() == 8);  // four widths, two directions
  CHECK(tiles->tiles()[2].starts_with("width 16: dense tiles "));
  CHECK(tiles->bytes() > 2 * plain);
}

TEST_CASE("networks learn the same with tiles, and say which form products have") {
  Comm world;
  const SharedScratch scratch(world);
  std::vector<double> weights[2];
  for (const int tiles : {0, 1}) {
    Place place(world, scratch.file(fmt::format("tiles{}", tiles)));
    place.run("train", stage(tiles ? ", tiles: auto" : ""));
    weights[tiles] = place.weights();
  }
  REQUIRE(weights[0].size() == weights[1].size());
  CHECK(worst(weights[0], weights[1]) < 1e-10);
}

TEST_CASE("where tiles cannot be", "[messages]") {
  Comm self(MPI_COMM_SELF);
  const SharedScratch scratch(self);
  Place place(self, scratch.file("refused"));
  const auto says = [&](const std::string& keys) {
    try {
      place.run("train", stage(keys));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(says(", tiles: auto, layout: grid_2d")
            .ends_with(
                "tiles: auto needs complete rows of nodes on a rank, which layout grid_2d does not have; take layout: "
                "needed_rows, or leave tiles out"));
  CHECK(
      says(", tiles: auto, layout: {type: needed_rows, ordered: true}")
          .ends_with("tiles change the order of sums, and 'ordered' guarantees results bitwise identical to one rank; "
                     "remove one"));
}
