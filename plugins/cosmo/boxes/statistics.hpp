#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::cosmo {

/// Rows of values.
using Table = std::vector<std::vector<double>>;

/// Mean, standard deviation, skewness and excess kurtosis of log(1 + counts) over the cells of a box, and the logarithm
/// of the standard deviation of the counts themselves. logs: log(1 + counts). Sums are in double precision. T: float or
/// double.
template <class T>
std::array<double, 5> moments_of(std::span<const T> counts, std::span<const T> logs);
std::array<double, 5> moments_of(std::span<const double> counts);

/// Means over cubes of two cells along each edge of a box of `cells`, which is even: (cells/2)^3.
template <class T>
std::vector<T> halved(std::span<const T> counts, std::int64_t cells);

/// Edges, in cells, of the cubes over which moments are computed in a box of `cells` along an edge: 1, 2 and 4, as far
/// as they divide it and leave at least two cubes along an edge.
std::vector<std::int64_t> scales_of(std::int64_t cells);

/// moments_of() of the means over cubes of each of scales_of(cells), one after another. counts: [x][y][z]. Moments of
/// coarser cells distinguish sigma_8 from clustering within one cell.
std::vector<double> moments_at_scales(std::span<const double> counts, std::int64_t cells);

/// Linear fits of each target to features that are scaled to zero mean and unit standard deviation, with a penalty on
/// the squares of the weights. The penalty, in units of the number of rows, is chosen among 1e-8 .. 1 on the last fifth
/// of the rows; all rows are then fitted with it.
class Ridge {
 public:
  Ridge(const Table& features, const Table& targets);
  std::vector<double> operator()(std::span<const double> features) const;
  double penalty() const { return penalty_; }

 private:
  std::vector<double> mean_, scale_, offset_;
  Table weights_;  ///< (targets, features)
  double penalty_ = 0.0;
};

/// Mean of |found - truth| of each column.
std::vector<double> mean_absolute_errors(const Table& found, const Table& truth);

}  // namespace cambium::cosmo
