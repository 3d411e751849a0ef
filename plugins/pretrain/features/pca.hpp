#pragma once
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Principal components: the directions in which rows differ most from their mean, unit vectors, the largest first.
class PrincipalComponents {
 public:
  /// At most `count` of them, fewer where rows span fewer. Of more than 2000 rows, 2000 spread evenly are taken where
  /// the rows are longer than that.
  PrincipalComponents(const Matrix& rows, std::int64_t count);
  Matrix operator()(const Matrix& rows) const;
  std::int64_t count() const { return directions_.rows; }

 private:
  std::vector<double> mean_;
  Matrix directions_;
};

}  // namespace cambium::pretrain
