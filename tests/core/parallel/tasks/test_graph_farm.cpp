// Graphs handed out by need against one task after the other; journals of what was finished.
#include <atomic>
#include <memory>

#include "core/base/error.hpp"
#include "core/parallel/tasks/graph_farm.hpp"
#include "tests/catch.hpp"
#include "tests/core/parallel/tasks/random_graph.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::tasks;
using namespace cambium::tasks::test;

namespace {

/// Values that nobody reads, and nothing of the others.
void compare_values(const TaskGraph& graph, const GraphFarmResult& result, const Comm& comm) {
  if (!comm.root()) return;
  const auto expected = run_serially(graph);
  const auto last = is_last(graph);
  bool right = true;
  for (std::size_t k = 0; k < expected.size(); ++k)
    right = right && (last[k] ? result.values[k] == expected[k] : result.values[k].empty());
  CHECK(right);
}

/// A random graph that counts the tasks that ran here, and may fail at one.
struct Counted : RandomGraph {
  using RandomGraph::RandomGraph;
  mutable std::atomic<std::int64_t> ran{0};
  std::int64_t breaks_at = -1;
  void run(std::int64_t t, std::span<const Input> inputs, std::span<std::byte> output) const override {
    if (t == breaks_at) throw NumericalError("it broke");
    ++ran;
    RandomGraph::run(t, inputs, output);
  }
};

}  // namespace

TEST_CASE("random graphs handed out by need give what they give in a row") {
  const Comm comm;
  Log log;
  const unsigned seed = GENERATE(11U, 12U, 13U);
  const RandomGraph graph(seed, 200, 4, 3000, false);
  const auto result = run_by_need(graph, comm, log, {.ahead = 1});
  CHECK(result.complete);
  compare_values(graph, result, comm);
}

TEST_CASE("a graph that was stopped goes on with what its journal knows, and nothing is done twice") {
  const Comm comm;
  Log log;
  const Scratch scratch("graph_farm");
  const Counted graph(21, 150, 3, 2000, false);
  const auto journal = [&](bool resume) -> std::unique_ptr<TaskJournal> {
    return comm.root() ? std::make_unique<TaskJournal>(scratch.file("journal"), "graph 21", resume) : nullptr;
  };
  int asked = 0;
  {
    const auto record = journal(false);
    const auto result = run_by_need(graph, comm, log, {}, record.get(), [&] { return ++asked > 60; });
    CHECK_FALSE(result.complete);
  }
  const std::int64_t before = comm.sum(graph.ran.load());
  CHECK(before > 0);
  CHECK(before < graph.size());
  const auto record = journal(true);
  const auto result = run_by_need(graph, comm, log, {}, record.get());
  CHECK(result.complete);
  if (comm.root()) CHECK(result.replayed == before);
  CHECK(comm.sum(graph.ran.load()) == graph.size());
  compare_values(graph, result, comm);
}

TEST_CASE("a task that fails for good ends the graph on every rank, with its reason") {
  const Comm comm;
  Log log;
  Counted graph(31, 50, 2, 100, false);
  graph.breaks_at = 17;
  CHECK_THROWS_WITH(run_by_need(graph, comm, log), "task 17 failed: it broke");
}
