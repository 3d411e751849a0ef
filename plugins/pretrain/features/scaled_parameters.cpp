#include "plugins/pretrain/features/scaled_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::pretrain {

std::pair<Matrix, Matrix> comparable(Matrix candidates, Matrix known) {
  Matrix all(candidates.rows + known.rows, candidates.columns);
  std::copy(candidates.values.begin(), candidates.values.end(), all.values.begin());
  std::copy(known.values.begin(), known.values.end(),
            all.values.begin() + static_cast<std::ptrdiff_t>(candidates.values.size()));
  for (std::int64_t c = 0; c < all.columns; ++c) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::int64_t k = 0; k < all.rows; ++k) low = std::min(low, all(k, c)), high = std::max(high, all(k, c));
    if (!(low > 0.0 && high > 10.0 * low)) continue;
    for (Matrix* part : {&candidates, &known, &all})
      for (std::int64_t k = 0; k < part->rows; ++k) (*part)(k, c) = std::log10((*part)(k, c));
  }
  return {standardised(candidates, all), standardised(known, all)};
}

}  // namespace cambium::pretrain
