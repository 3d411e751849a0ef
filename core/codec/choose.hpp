#pragma once
#include "core/codec/interpolation.hpp"
#include "core/codec/lorenzo.hpp"

namespace cambium::lowp {

/// The level bounds of interpolation, and the differences, that are worth encoding this field with besides the usual
/// ones: those whose codes have the fewest bits by their frequencies, of the field itself where it is small, else of
/// blocks spread over it. `bound`: absolute.
/// Whether the field itself is judged: then the usual form need not be encoded, too.
bool judged_whole(const FieldShape& shape);
template <class T>
LevelBounds choose_level_bounds(const T* field, const FieldShape& shape, double bound);
template <class T>
LorenzoCoding choose_differences(const T* field, const FieldShape& shape, double bound);

}  // namespace cambium::lowp
