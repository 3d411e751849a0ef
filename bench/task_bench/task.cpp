#include "bench/task_bench/task.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/base/error.hpp"

namespace cambium::task_bench {

namespace {

struct Place {
  std::int64_t step, point;
};

void check_input(const Pattern& graph, std::int64_t step, std::int64_t point, std::int64_t from, Bytes input,
                 std::int64_t bytes) {
  Place found{-1, -1};
  if (std::ssize(input) != bytes)
    throw InternalError(fmt::format("task bench: task ({}, {}) of graph {} got {} bytes of ({}, {}) instead of {}",
                                    step, point, graph.graph, input.size(), step - 1, from, bytes));
  for (std::size_t at = 0; at + sizeof(found) <= input.size(); at += sizeof(found)) {
    std::memcpy(&found, input.data() + at, sizeof(found));
    if (found.step != step - 1 || found.point != from)
      throw InternalError(
          fmt::format("task bench: task ({}, {}) of graph {} got ({}, {}) instead of ({}, {}) at byte {}", step, point,
                      graph.graph, found.step, found.point, step - 1, from, at));
  }
}

/// Somewhere outside, so that results count.
volatile double result_of_kernel = 0.0;

}  // namespace

void run_task(const Work& work, const Pattern& graph, std::int64_t step, std::int64_t point,
              std::span<const std::int64_t> made_from, std::span<const Bytes> inputs, std::span<std::byte> output,
              Scratch& scratch) {
  if (made_from.size() != inputs.size())
    throw InternalError(fmt::format("task bench: task ({}, {}) got {} inputs instead of {}", step, point, inputs.size(),
                                    made_from.size()));
  for (std::size_t k = 0; k < inputs.size(); ++k)
    check_input(graph, step, point, made_from[k], inputs[k], work.output_bytes);
  result_of_kernel = execute(work.kernel, work.kernel.iterations_of(graph.graph, step, point), scratch);
  const Place own{step, point};
  for (std::size_t at = 0; at + sizeof(own) <= output.size(); at += sizeof(own))
    std::memcpy(output.data() + at, &own, sizeof(own));
}

Block block_of(std::int64_t width, int rank, int ranks) { return {width * rank / ranks, width * (rank + 1) / ranks}; }

int rank_of(std::int64_t point, std::int64_t width, int ranks) {
  int rank = static_cast<int>(point * ranks / width);
  while (point >= block_of(width, rank, ranks).end) ++rank;
  while (point < block_of(width, rank, ranks).first) --rank;
  return rank;
}

}  // namespace cambium::task_bench
