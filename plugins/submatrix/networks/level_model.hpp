#pragma once
#include <memory>
#include <string>

#include "core/parallel/context.hpp"
#include "plugins/submatrix/columns/level_prediction.hpp"

namespace cambium::submatrix {

/// A trained network local_levels. A band energy is suspect when it is further from its prediction than `times` the
/// root mean square error on the samples that were held out from training. InputError for another network, and for one
/// trained without any.
std::shared_ptr<const LevelPredictor> load_level_model(const std::string& path, double times, Context& context);

}  // namespace cambium::submatrix
