#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "bench/task_bench/kernels.hpp"
#include "bench/task_bench/pattern.hpp"

namespace cambium::task_bench {

/// Workload: graphs of one shape, run concurrently, with one kernel.
struct Work {
  std::vector<Pattern> graphs;
  Kernel kernel;
  std::int64_t output_bytes = 16;  ///< of every task, a multiple of 16
};

using Bytes = std::span<const std::byte>;

/// Checks every 16 bytes of every input, does the work, and writes (step, point) into every 16 bytes of the output.
/// InternalError if an input is not of the expected point of the previous step: detects back ends that are fast and
/// wrong. `made_from`: points of `inputs`, in their order.
void run_task(const Work& work, const Pattern& graph, std::int64_t step, std::int64_t point,
              std::span<const std::int64_t> made_from, std::span<const Bytes> inputs, std::span<std::byte> output,
              Scratch& scratch);

/// Contiguous points in equal numbers for every rank, as assigned by the published program.
struct Block {
  std::int64_t first = 0, end = 0;
};
Block block_of(std::int64_t width, int rank, int ranks);
int rank_of(std::int64_t point, std::int64_t width, int ranks);

}  // namespace cambium::task_bench
