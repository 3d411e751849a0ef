#pragma once
#include "core/base/log.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// A warning for each field of the data whose numbers leave the range that the model saw in training by more than 5 %
/// of it. Of 256 samples at most; texts as bytes have no range.
void warn_of_ranges(const ArtifactInfo& info, Dataset& data, Log& log);

}  // namespace cambium::train
