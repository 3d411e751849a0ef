#pragma once
#include "core/codec/bytes.hpp"
#include "core/codec/shape.hpp"

namespace cambium::lowp {

/// Rounding to whole steps first, then Lorenzo's prediction from the preceding neighbours in every dimension, in exact
/// integers: the first difference along each dimension in turn (after cuSZ, Tian et al., PACT 2020). Less small than
/// interpolation on smooth fields, faster on all.
template <class T>
void lorenzo_encode(const T* field, const FieldShape& shape, double bound, ByteWriter& out);
/// Throws DamagedStream.
template <class T>
void lorenzo_decode(ByteReader& in, const FieldShape& shape, double bound, T* field);

}  // namespace cambium::lowp
