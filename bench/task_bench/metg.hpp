#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace cambium::task_bench {

/// One size of the tasks.
struct GrainPoint {
  std::int64_t iterations = 0;
  double seconds = 0.0;      ///< of all steps
  double granularity = 0.0;  ///< seconds times cores over tasks
  double efficiency = 0.0;   ///< of the machine's rate at this kernel
};

/// The smallest granularity with at least this efficiency: linear interpolation between it and the next smaller size,
/// which is less efficient, if that gives a smaller value. None if no size is efficient enough. `points` in descending
/// order of iterations.
std::optional<double> metg(const std::vector<GrainPoint>& points, double efficiency);

}  // namespace cambium::task_bench
