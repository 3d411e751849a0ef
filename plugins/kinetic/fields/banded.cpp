#include "plugins/kinetic/fields/banded.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::kinetic {

void Banded::factorize() {
  for (int i = 0; i < n_; ++i) {
    const double* left = row(i);
    for (int j = std::max(0, i - band_); j <= i; ++j) {
      const double* upper = row(j);
      double sum = entry(i, j);
      for (int k = std::max({0, i - band_, j - band_}); k < j; ++k) sum -= left[k] * upper[k];
      entry(i, j) = i == j ? std::sqrt(sum) : sum / upper[j];
    }
  }
}

void Banded::solve(std::vector<double>& right) const {
  for (int i = 0; i < n_; ++i) {
    const double* left = row(i);
    for (int j = std::max(0, i - band_); j < i; ++j) right[i] -= left[j] * right[j];
    right[i] /= left[i];
  }
  for (int i = n_ - 1; i >= 0; --i) {
    const double* left = row(i);
    right[i] /= left[i];
    for (int j = std::max(0, i - band_); j < i; ++j) right[j] -= left[j] * right[i];
  }
}

}  // namespace cambium::kinetic
