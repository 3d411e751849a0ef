#pragma once
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Principal component analysis: unit vectors, by decreasing variance.
class PrincipalComponents {
 public:
  /// At most `count` components, fewer if the rows span fewer. Uses 2000 evenly spaced rows if there are more and the
  /// rows have more than 2000 columns.
  PrincipalComponents(const Matrix& rows, std::int64_t count);
  Matrix operator()(const Matrix& rows) const;
  std::int64_t count() const { return directions_.rows; }

 private:
  std::vector<double> mean_;
  Matrix directions_;
};

}  // namespace cambium::pretrain
