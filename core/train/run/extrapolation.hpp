#pragma once
#include "core/base/log.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// Warns about each field of the data whose values leave the range seen in training by more than 5 % of it, and about
/// each row of values of which one leaves its own range by more than a quarter of it: columns of a table differ in size
/// and unit. Also warns of images in [0, 1] where training read bytes of [0, 255]. Checks the samples that
/// field_ranges() reads, 256 or more; text stored as bytes has no range.
void warn_of_ranges(const ArtifactInfo& info, Dataset& data, Log& log);

}  // namespace cambium::train
