#pragma once
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Regularised canonical correlation analysis: directions of two views with maximally correlated coordinates over pairs
/// of rows, each weighted by its correlation (Hotelling 1936; ridge for small samples: Vinod 1976). Ridge and number of
/// directions maximise the retrieval of positives in the last eighth of the pairs, which is excluded from that fit.
class CanonicalCorrelations {
 public:
  CanonicalCorrelations(const Matrix& first, const Matrix& second);
  Matrix of_first(const Matrix& rows) const { return product(minus(rows, mean_first_), first_); }
  Matrix of_second(const Matrix& rows) const { return product(minus(rows, mean_second_), second_); }

 private:
  std::vector<double> mean_first_, mean_second_;
  Matrix first_, second_;  ///< (columns, directions)
};

/// Relevant component analysis (Bar-Hillel et al., ICML 2003): whitens rows by the covariance of differences within
/// pairs, so that variation within a run has a small weight and variation between runs a large one. A ridge of a tenth
/// of the mean variance of the differences prevents directions with almost no change from dominating.
class RelevantComponents {
 public:
  /// `changes`: the difference of each pair.
  explicit RelevantComponents(const Matrix& changes);
  Matrix operator()(const Matrix& rows) const { return product(rows, scale_); }

 private:
  Matrix scale_;
};

/// Fraction of the rows of `queries` whose nearest row of `archive` has the same index.
double share_of_partners(const Matrix& archive, const Matrix& queries);

}  // namespace cambium::pretrain
