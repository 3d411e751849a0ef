#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cambium::train {

/// Epochs that the reference of a benchmark took to its target with one batch, in several runs.
struct ReferencePoint {
  std::string name;
  std::int64_t batch = 0;
  std::vector<double> epochs;  ///< empty for a point between two others
  std::int64_t runs = 0;
  double mean = 0.0;        ///< without the smallest and the largest
  double deviation = 0.0;   ///< of the population of all
  double least_mean = 0.0;  ///< below which a set of runs is too fast to be chance
  bool pruned = false;
};

/// The least mean of `runs` runs for which a one-sided t test with pooled standard deviation (5 %, samples of n_ref and
/// runs - 2) does not reject that it is as slow as the reference; found by bisection to 1e-4, as in the published rule.
double least_acceptable_mean(double mean, double deviation, std::int64_t n_ref, int runs);

/// Statistics of the points of a benchmark whose score takes `runs` runs, in ascending order of batch; pruned are
/// batches smaller than that of the fastest mean, and points slower than the line through their neighbours.
std::vector<ReferencePoint> reference_points(std::vector<ReferencePoint> points, int runs);
/// The same from a published file (JSON). InputError when it cannot be read or has another form.
std::vector<ReferencePoint> read_reference_points(const std::string& path, int runs);

/// The point of a batch among those that were not pruned: itself, or mean and deviation on the line between its
/// neighbours. Nothing outside of their range.
std::optional<ReferencePoint> point_at(const std::vector<ReferencePoint>& points, std::int64_t batch, int runs);

/// Outcome of a set of runs.
struct Convergence {
  double mean = 0.0;  ///< epochs, without the smallest and the largest
  bool too_fast = false;
  double time_factor = 1.0;  ///< above 1: faster than the reference within chance, and the time is scaled up
};
Convergence compare_convergence(std::vector<double> epochs, const ReferencePoint& point);

/// For a population, not of a sample.
double deviation_of(const std::vector<double>& values);

/// Mean without the smallest and the largest; of fewer than three, of all.
double olympic_mean(std::vector<double> values);

}  // namespace cambium::train
