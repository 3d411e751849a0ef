// All patterns over all back ends: the tasks themselves check what they get. And the check finds what is wrong.
#include <cstring>

#include "bench/task_bench/back_end.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::task_bench;

namespace {

Pattern small(Dependence dependence, std::int64_t graph = 0) {
  return {.dependence = dependence, .width = 11, .steps = 17, .radix = 4, .period = 2, .graph = graph};
}

std::vector<std::byte> of(std::int64_t step, std::int64_t point, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  const std::int64_t place[2] = {step, point};
  for (std::size_t at = 0; at < bytes; at += sizeof(place)) std::memcpy(out.data() + at, place, sizeof(place));
  return out;
}

}  // namespace

TEST_CASE("every back end gives every task of every pattern its inputs") {
  const Comm comm;
  for (const char* name : {"messages", "bulk_synchronous", "tasks", "tasks_by_messages", "schedule"})
    for (const auto& pattern : dependence_names()) {
      INFO(name << " " << pattern.name);
      Work work;
      work.graphs = {small(pattern.dependence)};
      const auto back_end = make_back_end(name, work, comm, 1);
      for (const std::int64_t iterations : {5, 1}) CHECK(back_end->seconds(iterations) > 0.0);
    }
}

TEST_CASE("several graphs run side by side, with large values and in threads") {
  const Comm comm;
  for (const char* name : {"messages", "tasks", "tasks_by_messages", "schedule"}) {
    Work work;
    work.output_bytes = 4096;
    work.kernel = {.kind = KernelKind::load_imbalance, .imbalance = 1.5};
    for (std::int64_t g = 0; g < 4; ++g)
      work.graphs.push_back(small(g % 2 == 0 ? Dependence::stencil_1d : Dependence::fft, g));
    CHECK(make_back_end(name, work, comm, 1)->seconds(50) > 0.0);
    CHECK(make_back_end(name, work, comm, 3)->seconds(50) > 0.0);
  }
}

TEST_CASE("a task says what it got instead of what") {
  Work work;
  work.output_bytes = 32;
  Pattern p = small(Dependence::stencil_1d);
  Scratch scratch;
  std::vector<std::byte> output(32);
  const std::vector<std::int64_t> from{2, 3};
  auto left = of(4, 2, 32), right = of(4, 3, 32);
  const auto run = [&] {
    const std::vector<Bytes> inputs{left, right};
    run_task(work, p, 5, 3, from, inputs, output, scratch);
  };
  run();
  CHECK(output == of(5, 3, 32));
  right = of(3, 3, 32);
  CHECK_THROWS_WITH(run(), "task bench: task (5, 3) of graph 0 got (3, 3) instead of (4, 3) at byte 0");
  right = of(4, 3, 32);
  right[16] = std::byte{9};
  CHECK_THROWS_WITH(run(), "task bench: task (5, 3) of graph 0 got (9, 3) instead of (4, 3) at byte 16");
  right = of(4, 3, 16);
  CHECK_THROWS_WITH(run(), "task bench: task (5, 3) of graph 0 got 16 bytes of (4, 3) instead of 32");
  const std::vector<Bytes> one{left};
  CHECK_THROWS_WITH(run_task(work, p, 5, 3, from, one, output, scratch),
                    "task bench: task (5, 3) got 1 inputs instead of 2");
}

TEST_CASE("blocks of points cover the width once") {
  for (const std::int64_t width : {1, 2, 7, 8, 100})
    for (const int ranks : {1, 2, 3, 4, 16}) {
      std::int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Block block = block_of(width, rank, ranks);
        CHECK(block.first == next);
        next = block.end;
        for (std::int64_t p = block.first; p < block.end; ++p) CHECK(rank_of(p, width, ranks) == rank);
      }
      CHECK(next == width);
    }
}

TEST_CASE("the yardstick takes as many points as its tags have room for") {
  const Comm comm;
  Work work;
  work.graphs = {{.dependence = Dependence::no_comm, .width = 128 * comm.size() + 1, .steps = 2}};
  CHECK_THROWS_WITH(make_back_end("messages", work, comm, 1),
                    "bench task_bench: " + std::to_string(128 * comm.size() + 1) + " points on " +
                        std::to_string(comm.size()) + " ranks are more than 128 on one; use a smaller width");
}

TEST_CASE("kernels do what they say") {
  Scratch scratch;
  const Kernel compute{.kind = KernelKind::compute_bound};
  CHECK(compute.flops_of(10) == 128.0 * 10 + 64);
  CHECK(execute(compute, 2, scratch) > execute(compute, 1, scratch));
  const Kernel copy{.kind = KernelKind::memory_bound, .scratch = 1 << 16, .samples = 4};
  CHECK(copy.bytes_of(8) == 2.0 * (1 << 16));
  CHECK(execute(copy, 8, scratch) == 1.0);
  const Kernel multiply{.kind = KernelKind::dgemm, .scratch = 3 * 8 * 16 * 16};
  CHECK(multiply.flops_of(3) == 3 * 2.0 * 16 * 16 * 16);
  CHECK(execute(multiply, 1, scratch) == Approx(16.0));  // of ones
  const Kernel add{.kind = KernelKind::daxpy, .scratch = 1600};
  CHECK(add.flops_of(1) == 200.0);
  CHECK(execute({.kind = KernelKind::busy_wait}, 5, scratch) != execute({.kind = KernelKind::busy_wait}, 6, scratch));
  CHECK(execute({.kind = KernelKind::empty}, 5, scratch) == 0.0);
}

TEST_CASE("unequal tasks are drawn evenly around the mean, the same whoever asks") {
  const Kernel kernel{.kind = KernelKind::load_imbalance, .iterations = 1000, .imbalance = 1.0};
  double sum = 0.0;
  for (std::int64_t t = 0; t < 100; ++t)
    for (std::int64_t p = 0; p < 100; ++p) {
      const auto n = kernel.iterations_of(0, t, p);
      CHECK(n >= 500);
      CHECK(n <= 1500);
      sum += static_cast<double>(n);
    }
  CHECK(sum / 1e4 == Approx(1000.0).epsilon(0.01));
  CHECK(kernel.iterations_of(0, 3, 4) != kernel.iterations_of(1, 3, 4));
}
