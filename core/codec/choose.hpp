#pragma once
#include "core/codec/interpolation.hpp"
#include "core/codec/lorenzo.hpp"

namespace cambium::lowp {

/// Form of a predictor whose codes have the fewest bits by their frequencies, counted on the entire field if it is
/// small (`judged_whole`), else on blocks spread over it; compared with the usual form, Coding{}.
template <class Coding>
struct Choice {
  Coding coding;
  double bits = 0.0, usual_bits = 0.0;  ///< per value, of this form and of the usual one
};

bool judged_whole(const FieldShape& shape);
/// `bound`: absolute.
template <class T>
Choice<LevelBounds> choose_level_bounds(const T* field, const FieldShape& shape, double bound);
template <class T>
Choice<LorenzoCoding> choose_differences(const T* field, const FieldShape& shape, double bound);

}  // namespace cambium::lowp
