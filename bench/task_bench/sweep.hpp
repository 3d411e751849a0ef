#pragma once
#include <memory>
#include <vector>

#include "bench/task_bench/back_end.hpp"
#include "bench/task_bench/metg.hpp"

namespace cambium::task_bench {

/// How a sweep goes.
struct SweepSizes {
  std::int64_t largest = 65536;  ///< iterations, halved down to one
  int repeats = 5;               ///< runs of each size of which the median counts
  double cores = 1.0;            ///< on which the tasks run
};

/// Iterations per second that all cores together make of the kernel, without a graph; the best of some turns.
/// Collective.
double peak_rate(const Work& work, const SweepSizes& sizes, const Comm& comm);

/// The published sweep, one list of points for each back end: the size of the tasks falls by halves, each is run
/// several times after one that does not count. The back ends take turns, so that a processor that changes its pace, or
/// cores that move apart, change all of them. The median of the turns, where the published program takes their mean,
/// which one turn beside another program spoils. A back end that is below 2 % is left out of smaller sizes. Collective.
std::vector<std::vector<GrainPoint>> sweep(const std::vector<std::unique_ptr<BackEnd>>& back_ends, const Work& work,
                                           const SweepSizes& sizes, double peak);

/// What became of large values (Hiding::share): seconds of all steps.
struct Hiding {
  double messages = 0.0;  ///< as plain MPI sends them, nothing else to do
  double values = 0.0;    ///< to make and check the values, none of them sent
  double work = 0.0;      ///< of the same tasks with values of 16 bytes, as long as `messages`
  double together = 0.0;  ///< work and large values
  /// How much of the messages was hidden: 1 when they cost nothing beyond the values and the work.
  double share() const;
};

/// Several graphs, so that there is work to do while messages are under way. Collective.
Hiding measure_hiding(const std::string& back_end, Work work, const SweepSizes& sizes, std::int64_t bytes, double peak,
                      int threads, const Comm& comm);

}  // namespace cambium::task_bench
