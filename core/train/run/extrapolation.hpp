#pragma once
#include "core/base/log.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// Warns about each field of the data whose values leave the range seen in training by more than 5 % of it. Checks at
/// most 256 samples; text stored as bytes has no range.
void warn_of_ranges(const ArtifactInfo& info, Dataset& data, Log& log);

}  // namespace cambium::train
