// Orders, homes, and what is said of graphs that cannot run.
#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/core/parallel/farm/random_graph.hpp"

using namespace cambium;
using namespace cambium::tasks;
using namespace cambium::tasks::test;

namespace {

/// Tasks with these inputs, costs and homes.
struct ListedGraph : TaskGraph {
  std::vector<std::vector<std::int64_t>> read;
  std::vector<double> costs;
  int at = -1;
  std::int64_t size() const override { return std::ssize(read); }
  void inputs(std::int64_t t, std::vector<std::int64_t>& out) const override { out = read[t]; }
  std::size_t output_bytes(std::int64_t) const override { return 1; }
  double cost(std::int64_t t) const override { return costs.empty() ? 1.0 : costs[t]; }
  int home(std::int64_t, int) const override { return at; }
  void run(std::int64_t, std::span<const Input>, std::span<std::byte>) const override {}
};

std::string refusal(const ListedGraph& graph) {
  try {
    order_of(graph);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("in the order of a graph every task follows its inputs") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const RandomGraph graph(seed, 300, 4, 100, false);
    const auto order = order_of(graph);
    REQUIRE(std::ssize(order) == graph.size());
    std::vector<std::size_t> place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    std::vector<std::int64_t> inputs;
    for (std::int64_t t = 0; t < graph.size(); ++t) {
      graph.inputs(t, inputs);
      for (const auto i : inputs) CHECK(place[i] < place[t]);
    }
  }
}

TEST_CASE("graphs that cannot run are refused with what is wrong") {
  ListedGraph graph;
  graph.read = {{}, {3}, {1}, {0, 2}, {0}};
  CHECK(refusal(graph) ==
        "tasks wait for each other and none could begin: task 1 waits for 3, which waits for 2, which waits for 1; "
        "remove one of these inputs");
  graph.read = {{}, {1}};
  CHECK(refusal(graph) ==
        "tasks wait for each other and none could begin: task 1 waits for 1; remove one of these inputs");
  graph.read = {{}, {7}};
  CHECK(refusal(graph) == "task 1 reads the value of task 7, but there are tasks 0 to 1 only");
  graph.read = {{}, {0}};
  CHECK(refusal(graph).empty());
  graph.at = 5;
  CHECK_THROWS_WITH(deal(graph, 4), "task 0 has its home on rank 5, but there are ranks 0 to 3 only");
}

TEST_CASE("tasks are dealt by cost, the dearest first") {
  ListedGraph graph;
  graph.read.resize(6);
  graph.costs = {1, 5, 2, 4, 3, 3};
  CHECK(deal(graph, 1) == std::vector<int>(6, 0));
  // 5 and 4; 3 joins the 4, 3 the 5; 2 joins the 7; of 8 and 9 the 1 joins the 8.
  CHECK(deal(graph, 2) == std::vector<int>{0, 0, 1, 1, 1, 0});
  graph.at = 1;
  CHECK(deal(graph, 2) == std::vector<int>(6, 1));
}
