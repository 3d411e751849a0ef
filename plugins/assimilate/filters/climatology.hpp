#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace cambium::assimilate {

/// Mean and anomalies of K states of a long run.
struct Climatology {
  std::size_t samples = 0, elements = 0;
  std::vector<double> mean;       ///< n
  std::vector<double> anomalies;  ///< K x n
  /// From K states of n values each.
  static Climatology of(std::vector<double> states, std::size_t elements);
  /// Standard deviation of each of `fields` equal parts of the state, over its grid points and all samples, about the
  /// part's own mean.
  std::vector<double> scales(std::size_t fields) const;
};

}  // namespace cambium::assimilate
