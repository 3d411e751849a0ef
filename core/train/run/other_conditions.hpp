#pragma once
#include <string>

#include "core/base/log.hpp"
#include "core/train/kinds/has_conditions.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// Difference between the systems behind a data set and those of a model's training (HasConditions): a phrase such as
/// "was trained on samples with rayleigh 1e+06, and the data set has rayleigh 1e+08". Empty if there is none or nothing
/// is known; parameters that are a field of the model's samples are not compared.
std::string other_conditions(const LoadedModel& model, const Dataset& data);

/// If there is such a difference: a warning if `allowed` (the key allow_other_parameters), else a KeyError about
/// `dataset`. `path`: the model file, for the message.
void require_conditions(const LoadedModel& model, const std::string& path, const Dataset& data, bool allowed, Log& log);

}  // namespace cambium::train
