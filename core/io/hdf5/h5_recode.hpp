#pragma once
#include <string>
#include <vector>

#include "core/io/hdf5/compression.hpp"

namespace cambium::io {

/// Outcome for one data set of a file that was rewritten.
struct Recoded {
  std::string path;
  std::int64_t elements = 0, bytes_per_value = 0, stored_before = 0, stored_after = 0;
  std::string kept;      ///< why it was copied as it is; else empty
  bool verified = true;  ///< false: an earlier version compressed it without checksums
};

/// Writes a copy of an HDF5 file, in which real data sets (32 or 64 bits) with at least `fewest` values are stored
/// within the bound of `compress`, or losslessly: frame by frame if they can grow along their first dimension, else in
/// one piece. Everything else, with links, attributes and dimension scales (their values, too), is copied as it is; the
/// list has a reason for each real data set among these. The copy gets a checksum (`seal.hpp`). InputError if `from`
/// cannot be read, or `to` exists.
std::vector<Recoded> compress_file(const std::string& from, const std::string& to, const Compression& compress,
                                   std::int64_t fewest = 1024);

/// Decodes the output of compress_file() and compares each value with the original. InternalError if one is beyond an
/// absolute or relative bound; nothing is compared for a PSNR, which bounds no value, and for lossless copies.
void require_bound(const std::string& from, const std::string& to, const Compression& compress,
                   const std::vector<Recoded>& list);

/// Writes a copy that every HDF5 reads: data encoded by Cambium's filter are stored as plain values. Checksums are
/// compared before decoding. InputError if there are no such data, and if the file is damaged.
std::vector<Recoded> decompress_file(const std::string& from, const std::string& to);

}  // namespace cambium::io
