#pragma once
#include <functional>
#include <vector>

#include "plugins/relate/datasets/record_set.hpp"

namespace cambium::relate {

/// Logistic regression on numbers and rows: sigmoid(b + sum of w_k x_k + the weights of the rows that are named),
/// fitted with the penalty lambda / 2 |w|^2 by limited-memory BFGS.
class LogisticRegression {
 public:
  /// Fits with the lambda, of a small grid, whose area under the curve is largest on a fifth of the records that the
  /// first fits leave out.
  explicit LogisticRegression(const RecordSet& training);
  std::vector<double> probabilities(const RecordSet& records) const;
  double lambda() const { return lambda_; }

 private:
  std::vector<double> fit(const RecordSet& records, const std::vector<std::int64_t>& chosen, double lambda) const;
  double score(const RecordSet& records, std::int64_t record, const std::vector<double>& weights) const;

  std::vector<std::int64_t> first_;  ///< weight of row 0 of each column, behind those of the numbers
  std::vector<double> mean_, scale_;
  std::size_t count_ = 0;
  std::vector<double> weights_;  ///< the last one is b
  double lambda_ = 0.0;
};

/// Minimum of a smooth function by L-BFGS with ten pairs and Armijo's rule; `gradient` fills the gradient and returns
/// the value.
std::vector<double> minimise(std::vector<double> x,
                             const std::function<double(const std::vector<double>&, std::vector<double>&)>& gradient,
                             int steps);

}  // namespace cambium::relate
