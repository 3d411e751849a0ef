#pragma once
#include <cstdint>

#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// Number of chunks of an array, and of those never written: HDF5 returns the fill value for these, zero if the file
/// names none.
struct ChunkCount {
  std::int64_t all = 0, unwritten = 0;
};
/// All zero for an array without chunks, and if the library cannot count them (before HDF5 1.10.5).
ChunkCount count_chunks(const Dataset& array);

/// True if the program that made the array set a non-zero fill value (H5Pset_fill_value).
bool has_own_fill(const Dataset& array);

}  // namespace cambium::io
