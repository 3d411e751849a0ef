#pragma once
#include <memory>
#include <vector>

#include "bench/task_bench/back_end.hpp"
#include "bench/task_bench/metg.hpp"

namespace cambium::task_bench {

/// How a sweep goes.
struct SweepSizes {
  std::int64_t largest = 65536;  ///< iterations, halved down to one
  int repeats = 5;               ///< runs of each size, of which the median is taken
  double cores = 1.0;            ///< on which the tasks run
};

/// Iterations per second of the kernel on all cores together, without a graph; the best of several turns. Collective.
double peak_rate(const Work& work, const SweepSizes& sizes, const Comm& comm);

/// The published sweep, one list of points per back end: the task size is halved repeatedly, each is run several times
/// after a warm-up. The back ends are interleaved, so that changes of clock frequency or drifting cores affect all of
/// them. Takes the median of the turns; the published program takes the mean, which one disturbed turn spoils. A back
/// end below 2 % is left out of smaller sizes. Collective.
std::vector<std::vector<GrainPoint>> sweep(const std::vector<std::unique_ptr<BackEnd>>& back_ends, const Work& work,
                                           const SweepSizes& sizes, double peak);

/// Timings for large values (Hiding::share): seconds of all steps.
struct Hiding {
  double messages = 0.0;  ///< as plain MPI sends them, nothing else to do
  double values = 0.0;    ///< to make and check the values, none of them sent
  double work = 0.0;      ///< of the same tasks with values of 16 bytes, as long as `messages`
  double together = 0.0;  ///< work and large values
  /// Fraction of the messages that was hidden: 1 if they cost nothing beyond the values and the work.
  double share() const;
};

/// Several graphs, so that there is work to do while messages are in flight. Collective.
Hiding measure_hiding(const std::string& back_end, Work work, const SweepSizes& sizes, std::int64_t bytes, double peak,
                      int threads, const Comm& comm);

}  // namespace cambium::task_bench
