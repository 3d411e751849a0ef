#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/io/parity.hpp"
#include "core/plugin/result.hpp"
#include "core/train/kinds/parity.hpp"

namespace cambium::train {

/// Errors of predicted numbers beside their references, both in the unit of the quantity but for r2.
struct RegressionErrors {
  std::int64_t count = 0;
  double rmse = 0.0, mae = 0.0;
  double bias = 0.0;     ///< mean of predicted - reference
  double largest = 0.0;  ///< largest absolute error
  double r2 = 0.0;       ///< 1 - sum of squared errors / sum of squared deviations of the references from their mean:
                         ///< 0 for a prediction by the mean; NaN where all references are equal
};
RegressionErrors regression_errors(std::span<const double> reference, std::span<const double> predicted);

/// Scores of a classifier that chooses the most probable class; the first of equal ones.
struct ClassScores {
  /// Of one class against all others, as scikit-learn defines them: the precision of a class that was never chosen is
  /// 0; NaN for a class that occurs on neither side, for the recall of one without samples, for auc where a side is
  /// empty.
  struct OfClass {
    std::int64_t samples = 0, chosen = 0, right = 0;
    double precision = 0.0, recall = 0.0, f1 = 0.0;
    double auc = 0.0;  ///< area under the receiver operating characteristic; ties count half
  };
  std::vector<OfClass> classes;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> confusion;  ///< samples by (reference, predicted)
  double accuracy = 0.0;
  double balanced_accuracy = 0.0, macro_f1 = 0.0, macro_auc = 0.0;  ///< means over the classes that have a value
  double most_frequent = 0.0;  ///< accuracy of choosing the most frequent class always
};
ClassScores class_scores(const ClassPredictions& predictions);

/// What the tables of an evaluation said, for the summary.
struct ErrorTables {
  std::vector<std::string> files, lines;
  std::vector<Result> results;
};

/// Writes errors.csv into a folder: a row for each quantity and component, then one for each fifth of its samples in
/// the order of the references. On one rank.
ErrorTables write_regression_tables(std::span<const io::ParityQuantity> quantities, const std::string& folder);

/// Writes predictions.csv (sample, reference, predicted, probabilities), classes.csv (a row a class) and confusion.csv
/// (reference, predicted, samples; pairs that occur) into a folder. On one rank.
ErrorTables write_class_tables(const ClassPredictions& predictions, const std::string& folder);

}  // namespace cambium::train
