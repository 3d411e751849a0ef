#include "plugins/assimilate/filters/ensemble_transform.hpp"

#include <cmath>

#include "core/numerics/gemm.hpp"
#include "core/numerics/symmetric_eigen.hpp"

namespace cambium::assimilate {

EnsembleTransform::EnsembleTransform(int members)
    : members_(members), matrix_(static_cast<std::size_t>(members) * members), value_(members), pull_(members),
      component_(members) {}

void EnsembleTransform::compute(std::span<const double> anomalies, std::span<const double> innovations,
                                double inflation, std::span<double> weights) {
  const int n = members_, p = static_cast<int>(innovations.size());
  host_gemm(false, true, n, n, p, 1.0, anomalies.data(), p, anomalies.data(), p, 0.0, matrix_.data(), n);
  for (int k = 0; k < n; ++k) {
    matrix_[k * n + k] += (n - 1) / inflation;
    pull_[k] = 0.0;
    for (int i = 0; i < p; ++i) pull_[k] += anomalies[k * p + i] * innovations[i];
  }
  symmetric_eigenvectors(n, matrix_.data(), value_.data());
  for (int j = 0; j < n; ++j) {
    component_[j] = 0.0;
    for (int k = 0; k < n; ++k) component_[j] += matrix_[j * n + k] * pull_[k];
    component_[j] /= value_[j];
  }
  for (int k = 0; k < n; ++k) {
    pull_[k] = 0.0;  // from here on the weight of anomaly k in the mean
    for (int j = 0; j < n; ++j) pull_[k] += matrix_[j * n + k] * component_[j];
  }
  for (int m = 0; m < n; ++m)
    for (int k = 0; k < n; ++k) weights[m * n + k] = pull_[k];
  for (int j = 0; j < n; ++j) {
    const double root = std::sqrt((n - 1) / value_[j]);
    for (int m = 0; m < n; ++m) {
      const double scaled = root * matrix_[j * n + m];
      for (int k = 0; k < n; ++k) weights[m * n + k] += scaled * matrix_[j * n + k];
    }
  }
}

}  // namespace cambium::assimilate
