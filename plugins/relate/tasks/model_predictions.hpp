#pragma once
#include <string>
#include <vector>

#include "core/base/citation.hpp"
#include "core/parallel/context.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::relate {

/// What a trained network says of records.
struct ModelPredictions {
  std::string method;  ///< its type and the folder of its stage, such as "affinity (train)"
  std::vector<double> value;
  std::vector<Citation> citations;
};

/// Collective: all records of a data set, which are dealt out to the ranks. InputError when the model is no network of
/// this plugin, or one for other records.
ModelPredictions predictions_of(const std::string& model, train::Dataset& data, Context& context);

/// The mean of several.
std::vector<double> mean_of(const std::vector<ModelPredictions>& models);

}  // namespace cambium::relate
