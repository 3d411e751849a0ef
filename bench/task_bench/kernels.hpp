#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::task_bench {

enum class KernelKind { empty, busy_wait, compute_bound, memory_bound, load_imbalance, dgemm, daxpy };

struct KernelName {
  const char* name;
  KernelKind kind;
};
std::span<const KernelName> kernel_names();

/// Work of a task in addition to reading and writing.
struct Kernel {
  KernelKind kind = KernelKind::compute_bound;
  std::int64_t iterations = 0;
  double imbalance = 0.0;     ///< 0 to 2: iterations are drawn evenly from 1 -+ imbalance/2 times their number
  std::int64_t scratch = 0;   ///< bytes that memory_bound, dgemm and daxpy work on, for each point
  std::int64_t samples = 16;  ///< parts of the scratch of which memory_bound copies one in an iteration

  /// Iterations of a task: a function of its position only.
  std::int64_t iterations_of(std::int64_t graph, std::int64_t step, std::int64_t point) const;
  double flops_of(std::int64_t iterations) const;
  double bytes_of(std::int64_t iterations) const;
};

/// Memory of one point.
struct Scratch {
  std::vector<double> values;
};

/// Does it; the result depends on all of the work, so that no compiler leaves it out.
double execute(const Kernel& kernel, std::int64_t iterations, Scratch& scratch);

}  // namespace cambium::task_bench
