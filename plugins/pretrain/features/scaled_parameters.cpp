#include "plugins/pretrain/features/scaled_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::pretrain {

namespace {

/// The rows of a, followed by those of b.
Matrix both(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows + b.rows, a.columns);
  std::copy(b.values.begin(), b.values.end(), std::copy(a.values.begin(), a.values.end(), out.values.begin()));
  return out;
}

std::pair<Matrix, Matrix> scaled_by(Matrix candidates, Matrix known, Matrix by) {
  for (std::int64_t c = 0; c < by.columns; ++c) {
    double low = std::numeric_limits<double>::infinity(), high = -low, size = 0.0;
    for (std::int64_t k = 0; k < by.rows; ++k) {
      low = std::min(low, by(k, c));
      high = std::max(high, by(k, c));
      size = std::max(size, std::abs(by(k, c)));
    }
    const bool logarithm = low > 0.0 && high > 10.0 * low;
    for (Matrix* part : {&candidates, &known, &by})
      for (std::int64_t k = 0; k < part->rows; ++k) {
        double& x = (*part)(k, c);
        if (logarithm)
          x = std::log10(std::max(x, 1e-300));
        else if (size > 0.0)
          x /= size;  // a unit of 1e-15 is not constant
      }
  }
  return {standardised(candidates, by), standardised(known, by)};
}

}  // namespace

std::pair<Matrix, Matrix> comparable(Matrix candidates, Matrix known) {
  Matrix all = both(candidates, known);
  return scaled_by(std::move(candidates), std::move(known), std::move(all));
}

std::pair<Matrix, Matrix> comparable_by_known(Matrix candidates, Matrix known) {
  Matrix by = known;
  return scaled_by(std::move(candidates), std::move(known), std::move(by));
}

}  // namespace cambium::pretrain
