#pragma once
#include "core/codec/bytes.hpp"
#include "core/codec/shape.hpp"

namespace cambium::lowp {

/// This build has ZFP (Lindstrom, IEEE TVCG 2014).
bool has_zfp();

/// Encodes a field by ZFP with the tolerance, up to eight times the bound, that gives the smallest stream if values
/// beyond the bound, and non-finite ones, are stored separately. InputError in a build without ZFP.
template <class T>
void zfp_encode(const T* field, const FieldShape& shape, double bound, ByteWriter& out);
/// Throws DamagedStream; InputError in a build without ZFP.
template <class T>
void zfp_decode(ByteReader& in, const FieldShape& shape, T* field);

}  // namespace cambium::lowp
