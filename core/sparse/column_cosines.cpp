#include "core/sparse/column_cosines.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cambium::sparse {

ColumnCosines::ColumnCosines(Csr<float> matrix) : matrix_(std::move(matrix)), back_(transposed(matrix_)) {
  for (std::int64_t j = 0; j < matrix_.columns; ++j)
    scale_.push_back(1.0 / std::sqrt(std::max(1.0, static_cast<double>(back_.length(j)))));
}

/// By co-occurrence: from the row's columns to all their rows, to all columns of these.
void ColumnCosines::scores(std::int64_t row, std::span<double> out) const {
  std::vector<double> of_rows(static_cast<std::size_t>(matrix_.rows), 0.0);
  for (const auto j : matrix_.columns_of(row))
    for (const auto other : back_.columns_of(j)) of_rows[other] += scale_[j];
  std::fill(out.begin(), out.end(), 0.0);
  for (std::int64_t other = 0; other < matrix_.rows; ++other) {
    const double shared = of_rows[static_cast<std::size_t>(other)];
    if (shared == 0.0) continue;
    for (const auto i : matrix_.columns_of(other)) out[i] += shared * scale_[i];
  }
}

}  // namespace cambium::sparse
