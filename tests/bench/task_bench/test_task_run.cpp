// Random graphs on ranks and threads against one task after the other.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/task_bench/task_run.hpp"
#include "core/base/error.hpp"
#include "core/parallel/emulated_network.hpp"
#include "tests/catch.hpp"
#include "tests/core/parallel/farm/random_graph.hpp"

using namespace cambium;
using namespace cambium::tasks;
using namespace cambium::tasks::test;

namespace {

/// Every value that nobody reads is at its home, as computed serially; returns how many there are on all ranks.
std::int64_t compare(const TaskGraph& graph, const TaskRun& run, const Comm& comm) {
  const auto expected = run_serially(graph);
  const auto last = is_last(graph);
  std::int64_t found = 0;
  bool right = true;
  for (std::int64_t t = 0; t < graph.size(); ++t) {
    const auto k = static_cast<std::size_t>(t);
    const auto kept = run.kept(t);
    if (!last[k] || run.home(t) != comm.rank()) {
      right = right && kept.empty();
      continue;
    }
    ++found;
    right = right && std::equal(kept.begin(), kept.end(), expected[k].begin(), expected[k].end());
  }
  CHECK(right);
  return comm.sum(found);
}

/// The first task is slow on its home; all others wait for it.
struct SlowFirst : TaskGraph {
  double seconds = 0.5;
  bool fails = false;
  std::int64_t size() const override { return 5; }
  void inputs(std::int64_t t, std::vector<std::int64_t>& out) const override {
    out.clear();
    if (t > 0) out.push_back(0);
  }
  std::size_t output_bytes(std::int64_t) const override { return 8; }
  int home(std::int64_t t, int ranks) const override { return static_cast<int>(t) % ranks; }
  void run(std::int64_t t, std::span<const Input>, std::span<std::byte>) const override {
    if (t > 0) return;
    if (fails) throw NumericalError("task 0 broke");
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
};

}  // namespace

TEST_CASE("random graphs give on ranks and threads what they give in a row") {
  const Comm comm;
  const unsigned seed = GENERATE(1U, 2U);
  const bool with_homes = GENERATE(false, true), shared = GENERATE(false, true);
  const int threads = GENERATE(1, 3);
  const RandomGraph graph(seed, 400, 5, 20000, with_homes);
  TaskRun run(graph, comm, {.threads = threads, .shared_memory = shared});
  const auto last = is_last(graph);
  for (int turn = 0; turn < 3; ++turn) {  // as often as one likes
    const auto report = run.run();
    CHECK(comm.sum(report.tasks) == graph.size());
    if (comm.size() > 1) CHECK(comm.sum(report.messages) > 0);
    CHECK(compare(graph, run, comm) == std::count(last.begin(), last.end(), true));
  }
}

TEST_CASE("large values, more than the shared memory holds at once, arrive whole") {
  const Comm comm;
  const RandomGraph graph(5, 600, 6, 300000, true);
  TaskRun run(graph, comm);
  run.run();
  compare(graph, run, comm);
}

TEST_CASE("what is read where it lies is not copied") {
  const Comm comm;
  if (comm.size() == 1) return;
  const RandomGraph graph(6, 200, 3, 100000, true);
  TaskRun lent(graph, comm), sent(graph, comm, {.shared_memory = false});
  const double copied = static_cast<double>(comm.sum(lent.run().bytes));
  CHECK(copied < 0.2 * static_cast<double>(comm.sum(sent.run().bytes)));
}

TEST_CASE("a large message comes by itself to where it stays, and leaves from where it lies") {
  const Comm comm;
  if (comm.size() == 1) return;
  constexpr std::size_t large = 1 << 20;
  set_emulated_network({{.speed = {.latency = 0.0, .bandwidth = large / 0.2}}});  // a fifth of a second
  const int next = (comm.rank() + 1) % comm.size();
  std::vector<std::byte> value(large, static_cast<std::byte>(comm.rank() + 1)), place(large);
  {
    TaskExchange exchange(comm, large, false);
    CHECK(exchange.send(next, 7, value, false) == TaskExchange::Sent::lent);
    int looks = 0, begun_at = -1, placed_at = -1, returned = 0;
    for (; placed_at < 0 || returned < 1; ++looks) {
      const auto room = [&](std::size_t bytes) {
        CHECK(bytes == large);
        begun_at = looks;
        return place.data();
      };
      exchange.receive(room, [&](const TaskExchange::Arrival& a) {
        CHECK(a.task == 7);
        if (a.kind == TaskExchange::Kind::returned) ++returned;
        if (a.kind == TaskExchange::Kind::placed) placed_at = looks;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(placed_at - begun_at >= 5);  // what a rank does meanwhile
    CHECK(returned == 1);
    exchange.finish();
    comm.barrier();
  }
  set_emulated_network({});
  const auto from = static_cast<std::byte>((comm.rank() + comm.size() - 1) % comm.size() + 1);
  CHECK(std::all_of(place.begin(), place.end(), [&](std::byte b) { return b == from; }));
}

TEST_CASE("tasks that breathe let values come and go meanwhile") {
  const Comm comm;
  struct Breathing : RandomGraph {
    using RandomGraph::RandomGraph;
    void run_long(std::int64_t t, std::span<const Input> inputs, std::span<std::byte> output,
                  const std::function<void()>& breathe) const override {
      breathe();
      run(t, inputs, output);
      breathe();
    }
  };
  for (const bool shared : {false, true}) {
    const Breathing graph(8, 300, 4, 30000, true);
    TaskRun run(graph, comm, {.shared_memory = shared});
    run.run();
    compare(graph, run, comm);
  }
}

TEST_CASE("a graph without tasks, and ranks without tasks, end") {
  const Comm comm;
  const RandomGraph empty(7, 0, 0, 0, false), one(7, 1, 0, 10, false);
  TaskRun none(empty, comm), single(one, comm);
  CHECK(none.run().tasks == 0);
  CHECK(comm.sum(single.run().tasks) == 1);
  compare(one, single, comm);
}

TEST_CASE("a rank that sends nothing is noticed and named") {
  const Comm comm;
  const SlowFirst graph;
  TaskRun patient(graph, comm, {.silence = 30.0});
  CHECK_NOTHROW(patient.run());
  if (comm.size() == 1) return;
  TaskRun run(graph, comm, {.silence = 0.1});
  if (comm.root())
    CHECK_NOTHROW(run.run());
  else
    CHECK_THROWS_WITH(run.run(),
                      fmt::format("rank 0 has sent nothing for 0.1 s; rank {} waits for task 0 and has {} of "
                                  "{} tasks left. Look at the machine of rank 0",
                                  comm.rank(), 5 / comm.size(), 5 / comm.size()));
  comm.barrier();
}

TEST_CASE("what a task throws comes out of the run, from any thread") {
  const Comm alone(MPI_COMM_SELF);
  SlowFirst graph;
  graph.fails = true;
  for (const int threads : {1, 3}) {
    TaskRun run(graph, alone, {.threads = threads});
    CHECK_THROWS_WITH(run.run(), "task 0 broke");
  }
}
