#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plugins/relate/datasets/choice_table.hpp"

namespace cambium::relate {

/// EASE (Steck, WWW 2019): the linear model x_u B that minimises |X - X B|^2 + lambda |B|^2 with zero diagonal, where X
/// is users x items, 1 for each training interaction. With P = (X^T X + lambda)^-1 it is B_ji = -P_ji / P_ii. With
/// fewer users than items, (X X^T + lambda)^-1 gives the same scores: X P = (X X^T + lambda)^-1 X and lambda P = 1 -
/// X^T (X X^T + lambda)^-1 X. So a matrix of the smaller side is inverted, in float32 by Cholesky factorisation (LAPACK
/// spotrf, spotri).
class Ease {
 public:
  /// Memory of the matrix in bytes, and its number of rows.
  static double bytes(const ChoiceTable& table);
  static std::int64_t rows(const ChoiceTable& table);
  /// NumericalError if the Cholesky factorisation fails because lambda is too small for float32.
  Ease(std::shared_ptr<const ChoiceTable> table, double lambda);
  /// Scores x_u B of every item for a user of the table.
  std::vector<double> scores(std::int32_t user) const;

 private:
  bool by_users() const { return table_->users < table_->items; }
  const float* row(std::int64_t k) const { return inverse_.data() + k * rows_; }
  void invert(const ChoiceTable::Lists& of, const ChoiceTable::Lists& back, double lambda);
  void take_diagonal(const ChoiceTable::Lists& chosen_by, double lambda);

  std::shared_ptr<const ChoiceTable> table_;
  std::int64_t rows_;
  std::vector<float> inverse_;    ///< rows x rows
  std::vector<double> diagonal_;  ///< P_ii of each item
};

}  // namespace cambium::relate
