#pragma once
#include "core/codec/interpolation.hpp"
#include "core/codec/lorenzo.hpp"

namespace cambium::lowp {

/// The level bounds of interpolation, and the differences, whose streams of this field are shortest. Each candidate
/// encodes: the field itself where it is small, else blocks spread over it. `bound`: absolute.
template <class T>
LevelBounds choose_level_bounds(const T* field, const FieldShape& shape, double bound);
template <class T>
LorenzoCoding choose_differences(const T* field, const FieldShape& shape, double bound);

}  // namespace cambium::lowp
