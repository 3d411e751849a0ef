// Made graphs against their rules, edge lists and HDF5 graphs read back, numbering.
#include <cstdio>
#include <fstream>
#include <set>

#include "core/io/hdf5/h5.hpp"
#include "plugins/graph/meshes/near_order.hpp"
#include "plugins/graph/meshes/network.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

NetworkKeys keys(const std::string& text) { return deck::read<NetworkKeys>(deck::parse(text, "test")); }

Network made(const std::string& text, std::uint64_t seed = 1) {
  Log log;
  return make_network(keys(text), seed, log);
}

/// The weight between two nodes of the file.
double weight_of(const Network& n, int a, int b) {
  for (std::int64_t i = 0; i < n.nodes(); ++i) {
    if (n.number[i] != a) continue;
    for (std::size_t e = 0; e < n.weight.length(i); ++e)
      if (n.number[n.weight.columns_of(i)[e]] == b) return n.weight.values_of(i)[e];
  }
  return 0.0;
}

}  // namespace

TEST_CASE("random places are connected where they are near, each to all such") {
  const auto n = made("{random: {nodes: 250, degree: 9, weight: 1 + d}}", 5);
  const double radius = std::sqrt(9.0 / (3.14159265358979 * 250.0));
  std::int64_t edges = 0;
  for (std::int64_t i = 0; i < 250; ++i) {
    std::set<std::int32_t> found(n.weight.columns_of(i).begin(), n.weight.columns_of(i).end());
    for (std::int64_t j = 0; j < 250; ++j) {
      const double d = std::hypot(n.place[i][0] - n.place[j][0], n.place[i][1] - n.place[j][1]) / radius;
      REQUIRE((found.count(static_cast<std::int32_t>(j)) == 1) == (i != j && d <= 1.0));
      if (found.count(static_cast<std::int32_t>(j))) CHECK(weight_of(n, n.number[i], n.number[j]) == Approx(1.0 + d));
      edges += i < j && d <= 1.0;
    }
  }
  CHECK(n.edges() == edges);
  CHECK(edges > 700);
  CHECK(made("{random: {nodes: 250, degree: 9}}", 6).edges() != edges);  // another seed
}

TEST_CASE("an edge list is read with its oddities") {
  const Scratch scratch;
  std::ofstream(scratch.file("g.edges")) << "# a comment\n1 2 0.5\n2 1 0.5  # the same\n\n3 3\n2 3 2\n5 1\n";
  const auto n = made("{file: " + scratch.file("g.edges") + ", first: 1}");
  CHECK(n.nodes() == 5);
  CHECK(n.edges() == 3);
  CHECK(weight_of(n, 0, 1) == 0.5);
  CHECK(weight_of(n, 2, 1) == 2.0);
  CHECK(weight_of(n, 4, 0) == 1.0);
  CHECK(weight_of(n, 2, 2) == 0.0);
}

TEST_CASE("a graph in HDF5 has weights and places") {
  const Scratch scratch;
  {
    auto file = io::File::create(scratch.file("g.h5"));
    const std::vector<std::int64_t> edges{0, 1, 1, 2};
    file.write("net/edges", io::tensor_of(edges.data(), {2, 2}));
    file.write("net/weights", std::vector<double>{3.0, 4.0});
    const std::vector<double> places{0, 0, 1, 0, 1, 1, 9, 9};
    file.write("net/positions", io::tensor_of(places.data(), {4, 2}));
  }
  const auto n = made("{file: " + scratch.file("g.h5") + ", group: net}");
  CHECK(n.nodes() == 4);
  CHECK(weight_of(n, 2, 1) == 4.0);
  for (int i = 0; i < 4; ++i)
    if (n.number[i] == 3) CHECK((n.place[i][0] == 9.0 && n.weight.length(i) == 0));
}

TEST_CASE("an order brings neighbours together and holds every node once") {
  // A long strip whose nodes are numbered at random.
  EdgeList list;
  list.nodes = 400;
  const auto shuffled = [](int i) { return static_cast<std::int32_t>((i * 147 + 11) % 400); };
  for (int i = 0; i < 400; ++i)
    for (const int step : {1, 4})
      if (i + step < 400) list.edges.push_back({shuffled(i), shuffled(i + step), 1.0});
  Log log;
  const auto wide = [](const Network& n) {
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < n.nodes(); ++i)
      for (const auto j : n.weight.columns_of(i)) most = std::max(most, std::abs(i - j));
    return most;
  };
  const auto plain = network_of(list, "strip", false, log), near = network_of(list, "strip", true, log);
  CHECK(wide(plain) > 200);
  CHECK(wide(near) <= 10);
  CHECK(std::set<std::int32_t>(near.number.begin(), near.number.end()).size() == 400);
  for (const auto& e : list.edges) CHECK(weight_of(near, e.row, e.column) == 1.0);
}
