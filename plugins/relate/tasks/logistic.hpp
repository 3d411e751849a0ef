#pragma once
#include <functional>
#include <vector>

#include "plugins/relate/datasets/record_set.hpp"

namespace cambium::relate {

/// Logistic regression on dense features and table rows: sigmoid(b + sum of w_k x_k + the weights of the rows of a
/// record), fitted with the penalty lambda / 2 |w|^2 by limited-memory BFGS.
class LogisticRegression {
 public:
  /// Selects lambda from a small grid by the area under the ROC curve on a held-out fifth of the records, then fits
  /// with it.
  explicit LogisticRegression(const RecordSet& training);
  std::vector<double> probabilities(const RecordSet& records) const;
  double lambda() const { return lambda_; }

 private:
  std::vector<double> fit(const RecordSet& records, const std::vector<std::int64_t>& chosen, double lambda) const;
  double score(const RecordSet& records, std::int64_t record, const std::vector<double>& weights) const;

  std::vector<std::int64_t> first_;  ///< weight of row 0 of each column, after those of the dense features
  std::vector<double> mean_, scale_;
  std::size_t count_ = 0;
  std::vector<double> weights_;  ///< the last one is b
  double lambda_ = 0.0;
};

/// Minimises a smooth function by L-BFGS with ten pairs and Armijo line search; `gradient` fills the gradient and
/// returns the value.
std::vector<double> minimise(std::vector<double> x,
                             const std::function<double(const std::vector<double>&, std::vector<double>&)>& gradient,
                             int steps);

}  // namespace cambium::relate
