#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/io/parity.hpp"
#include "core/plugin/result.hpp"
#include "core/train/kinds/parity.hpp"

namespace cambium::train {

/// Errors of predicted values against reference values, both in the unit of the quantity except r2.
struct RegressionErrors {
  std::int64_t count = 0;
  double rmse = 0.0, mae = 0.0;
  double bias = 0.0;     ///< mean of predicted - reference
  double largest = 0.0;  ///< largest absolute error
  double r2 = 0.0;  ///< 1 - sum of squared errors / sum of squared deviations of the references from their mean: 0 for
                    ///< prediction of the mean; NaN if all references are equal
};
RegressionErrors regression_errors(std::span<const double> reference, std::span<const double> predicted);

/// Scores of a classifier that predicts the most probable class; the first one on ties.
struct ClassScores {
  /// For one class against all others, as defined by scikit-learn: the precision of a class that was never predicted is
  /// 0; NaN for a class that occurs neither as reference nor as prediction, for the recall of one without samples, and
  /// for auc if one side is empty.
  struct OfClass {
    std::int64_t samples = 0, chosen = 0, right = 0;
    double precision = 0.0, recall = 0.0, f1 = 0.0;
    double auc = 0.0;  ///< area under the receiver operating characteristic; ties count half
  };
  std::vector<OfClass> classes;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> confusion;  ///< samples by (reference, predicted)
  double accuracy = 0.0;
  double balanced_accuracy = 0.0, macro_f1 = 0.0, macro_auc = 0.0;  ///< means over the classes that have a value
  double most_frequent = 0.0;  ///< accuracy of always predicting the most frequent class
};
ClassScores class_scores(const ClassPredictions& predictions);

/// Files, lines and results of an evaluation's tables, for the summary.
struct ErrorTables {
  std::vector<std::string> files, lines;
  std::vector<Result> results;
};

/// Writes errors.csv to a folder: a row for each quantity and component, then one for each fifth of its samples sorted
/// by reference. r2 of all components is one minus the sum of their squared errors over the sum of the squared
/// deviations of each from its own mean. On one rank.
ErrorTables write_regression_tables(std::span<const io::ParityQuantity> quantities, const std::string& folder);

/// Writes predictions.csv (sample, reference, predicted, probabilities), classes.csv (one row per class) and
/// confusion.csv (reference, predicted, samples; pairs that occur) into a folder. On one rank.
ErrorTables write_class_tables(const ClassPredictions& predictions, const std::string& folder);

}  // namespace cambium::train
