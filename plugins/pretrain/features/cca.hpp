#pragma once
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Regularised canonical correlations: directions of two views whose coordinates agree most over pairs of rows, each
/// weighed by its correlation (Hotelling 1936; ridges against small samples: Vinod 1976). The ridge and the number of
/// directions are those of the most partners found among the last eighth of the pairs, which the others were fitted
/// without.
class CanonicalCorrelations {
 public:
  CanonicalCorrelations(const Matrix& first, const Matrix& second);
  Matrix of_first(const Matrix& rows) const { return product(minus(rows, mean_first_), first_); }
  Matrix of_second(const Matrix& rows) const { return product(minus(rows, mean_second_), second_); }

 private:
  std::vector<double> mean_first_, mean_second_;
  Matrix first_, second_;  ///< (columns, directions)
};

/// Relevant components (Bar-Hillel et al., ICML 2003): rows in units of how much they change between those of a pair,
/// so that what changes within a run counts little and what tells runs apart counts much. A ridge of a tenth of the
/// mean variance of the changes keeps directions that hardly change from taking over.
class RelevantComponents {
 public:
  /// `changes`: the difference of each pair.
  explicit RelevantComponents(const Matrix& changes);
  Matrix operator()(const Matrix& rows) const { return product(rows, scale_); }

 private:
  Matrix scale_;
};

/// Share of the rows of `queries` whose nearest row of `archive` has their own number.
double share_of_partners(const Matrix& archive, const Matrix& queries);

}  // namespace cambium::pretrain
