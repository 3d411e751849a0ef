// Graphs handed out by need against one task after the other; journals of what was finished.
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/farm/graph_farm.hpp"
#include "core/parallel/farm/number_farm.hpp"
#include "tests/catch.hpp"
#include "tests/core/parallel/farm/random_graph.hpp"
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

namespace {

/// Configurations as the stage label has them: single ones, and trajectories a hundred times as dear, listed last.
struct Unequal {
  static constexpr std::int64_t single = 60, trajectories = 8;
  mutable double done = 0.0;  ///< cost of what this rank has made
  mutable std::int64_t made = 0;
  std::int64_t breaks_at = -1;
  static double cost(std::int64_t k) { return k < single ? 1.0 : 60.0 + 15.0 * static_cast<double>(k - single); }
  NumberPieces pieces() const {
    const auto make = [this](std::int64_t k, std::span<double> out, const Breathe& breathe) {
      if (k == breaks_at) throw InputError("piece 3 wants another input");
      for (const double end = wall_seconds() + 1e-3 * cost(k); wall_seconds() < end; breathe())
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      done += cost(k), ++made;
      for (std::size_t n = 0; n < out.size(); ++n) out[n] = 100.0 * static_cast<double>(k) + static_cast<double>(n);
    };
    return {single + trajectories, [](std::int64_t k) { return static_cast<std::size_t>(k % 3); }, cost, make};
  }
};

void check_numbers(const std::vector<double>& numbers) {
  std::size_t at = 0;
  bool right = true;
  for (std::int64_t k = 0; k < Unequal::single + Unequal::trajectories; ++k)
    for (std::int64_t n = 0; n < k % 3; ++n)
      right = right && numbers.at(at++) == 100.0 * static_cast<double>(k) + static_cast<double>(n);
  CHECK(right);
  CHECK(at == numbers.size());
}

}  // namespace

TEST_CASE("numbers of unequal pieces come in order, and no rank has much more than its share of the cost") {
  const Comm comm;
  Log log;
  const Scratch scratch("number_farm");
  double efficiency = 0.0;
  for (int turn = 0; turn < 3 && efficiency < 0.9; ++turn) {  // where others use the machine, too
    const Unequal work;
    const auto numbers = numbers_by_need(work.pieces(), {scratch.file("journal"), "unequal", false}, comm, log);
    REQUIRE(numbers);
    check_numbers(*numbers);
    CHECK(comm.sum(work.made) == Unequal::single + Unequal::trajectories);
    efficiency = comm.sum(work.done) / (comm.size() * comm.max(work.done));
  }
  if (comm.size() == 2) CHECK(efficiency >= 0.9);
}

TEST_CASE("pieces that a journal knows are not made again, wherever it was cut off") {
  const Comm comm;
  Log log;
  const Scratch scratch("number_journal");
  const auto path = scratch.file("journal");
  const Unequal first;
  int asked = 0;
  CHECK_FALSE(numbers_by_need(first.pieces(), {path, "unequal", false}, comm, log, {}, [&] { return ++asked > 30; }));
  const std::int64_t before = comm.sum(first.made);
  CHECK(before > 0);
  if (comm.root()) std::ofstream(path, std::ios::app | std::ios::binary) << "half a record";  // as when it is killed
  const Unequal second;
  const auto numbers = numbers_by_need(second.pieces(), {path, "unequal", true}, comm, log);
  REQUIRE(numbers);
  check_numbers(*numbers);
  CHECK(comm.sum(second.made) == Unequal::single + Unequal::trajectories - before);
}

TEST_CASE("what a piece refuses is refused on every rank, in its own words") {
  const Comm comm;
  Log log;
  const Scratch scratch("number_refusal");
  Unequal work;
  work.breaks_at = 3;
  CHECK_THROWS_AS(numbers_by_need(work.pieces(), {scratch.file("journal"), "unequal", false}, comm, log,
                                  {.retries = 0, .says_itself = true}),
                  InputError);
}
