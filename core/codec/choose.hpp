#pragma once
#include "core/codec/interpolation.hpp"
#include "core/codec/lorenzo.hpp"

namespace cambium::lowp {

/// The form of a predictor whose codes have the fewest bits by their frequencies, of the field itself where it is small
/// (`judged_whole`), else of blocks spread over it; beside the usual form, Coding{}.
template <class Coding>
struct Choice {
  Coding coding;
  double bits = 0.0, usual_bits = 0.0;  ///< for each value, of the form and of the usual one
};

bool judged_whole(const FieldShape& shape);
/// `bound`: absolute.
template <class T>
Choice<LevelBounds> choose_level_bounds(const T* field, const FieldShape& shape, double bound);
template <class T>
Choice<LorenzoCoding> choose_differences(const T* field, const FieldShape& shape, double bound);

}  // namespace cambium::lowp
