#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/plugin/forecast_model.hpp"

namespace cambium::assimilate {

/// Root mean square over all fields that do not follow from others.
double rmse(const StateSpace& space, std::span<const double> estimate, std::span<const double> truth);
/// Root of the mean variance over the same elements.
double spread(const StateSpace& space, std::span<const double> variance);

/// Time series of one filter. One entry per analysis time; f: forecast, a: analysis.
struct Series {
  std::vector<double> time, rmse_f, rmse_a, spread_f, spread_a;
  std::vector<double> innovation;  ///< mean of observation minus forecast, in units of the observation errors
  std::vector<double>
      innovation_square;          ///< mean of its square over observation and forecast variance; 1 if consistent
  std::vector<double> inflation;  ///< factor of the anomalies
};

/// Squares over the times after the burn-in, by field.
struct FieldErrors {
  std::vector<double> forecast, analysis, truth;
  void add(const StateSpace& space, std::span<const double> forecast_mean, std::span<const double> analysis_mean,
           std::span<const double> truth_values);
};

/// Mean of the values whose time is greater than `from`, and the standard error of that mean from ten batches; values
/// that are not finite are skipped. Zero where there are too few.
struct Average {
  double mean = 0.0, error = 0.0;
};
Average average(std::span<const double> time, std::span<const double> values, double from);

/// Counts of the rank of each observed value among the members' values with errors of observation added (T. M. Hamill,
/// Mon. Weather Rev. 129, 550 (2001)): N + 1 classes, flat for a reliable ensemble. `seen`: N x p.
void count_ranks(std::span<const double> seen, std::span<const double> observed, std::span<const double> errors,
                 std::vector<std::int64_t>& counts);

}  // namespace cambium::assimilate
