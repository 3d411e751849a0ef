#pragma once
#include <cstdint>
#include <span>

namespace cambium::graph {

/// Threshold-free metrics of scores for class 1 versus class 0.
struct TwoClassScore {
  double roc_auc = 0.0;            ///< probability that one of class 1 scores above one of class 0; ties count half
  double average_precision = 0.0;  ///< sum of precision times the rise of recall over thresholds, ties together
};
/// NaN if a class is missing or a score is NaN. `labels`: 0 or 1.
TwoClassScore two_class_score(std::span<const std::int32_t> labels, std::span<const double> scores);

}  // namespace cambium::graph
