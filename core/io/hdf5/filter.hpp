#pragma once
#include <hdf5.h>

#include <vector>

#include "core/codec/fields/field_codec.hpp"

/// The lossy codec as a filter of HDF5: each chunk becomes one stream of encode_field(). Depends on HDF5's headers, not
/// its library, so that the same code is both part of Cambium and a plugin of any program that reads HDF5 files
/// (plugin.cpp).
namespace cambium::io {

/// From the range that the HDF Group leaves for use without registration.
constexpr H5Z_filter_t lossy_filter_id = 453;

extern const H5Z_class2_t lossy_filter;

/// Settings stored with a dataset to encode its chunks, and to decode those that were encoded with `weights` (null:
/// none were fitted before), with a checksum, which is compared before a chunk is decoded. `fills` (at most
/// most_fills): fill values, which are restored unchanged and count in no range.
std::vector<unsigned> lossy_filter_values(const lowp::FieldCoding& coding, const lowp::Enhancer* weights,
                                          int bytes_per_value, const std::vector<unsigned>& chunk,
                                          const std::vector<double>& fills = {});

/// True if the settings stored with a dataset include learned corrections.
bool asks_for_corrections(std::size_t n, const unsigned* values);

/// True if the settings stored with a dataset carry a checksum; those of earlier versions do not.
bool has_checksum(std::size_t n, const unsigned* values);

}  // namespace cambium::io
