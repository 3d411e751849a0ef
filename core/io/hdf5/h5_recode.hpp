#pragma once
#include <string>
#include <vector>

#include "core/io/hdf5/compression.hpp"

namespace cambium::io {

/// Outcome for one data set of a file that was rewritten.
struct Recoded {
  std::string path;
  std::int64_t elements = 0, bytes_per_value = 0, stored_before = 0, stored_after = 0;
  std::string kept;      ///< why it was copied as it is; empty where it was not
  bool verified = true;  ///< false: an earlier version compressed it without checksums
};

/// Writes a copy of an HDF5 file, in which data sets of real numbers (32 or 64 bits) with at least `fewest` values are
/// stored within the bound of `compress`, or without loss: frame by frame where they can grow along their first
/// dimension, else as a whole. Everything else, with links, attributes and dimension scales (their numbers, too), is
/// copied as it is; the list has a reason for real numbers that were. The copy carries a seal (`seal.hpp`). InputError
/// where `from` cannot be read, or `to` exists.
std::vector<Recoded> compress_file(const std::string& from, const std::string& to, const Compression& compress,
                                   std::int64_t fewest = 1024);

/// Decodes what compress_file() wrote and compares each value with the original. InternalError where one lies beyond an
/// absolute or relative bound; of a PSNR, which bounds no value, and of lossless copies nothing is compared.
void require_bound(const std::string& from, const std::string& to, const Compression& compress,
                   const std::vector<Recoded>& list);

/// Writes a copy that every HDF5 reads: what the filter of Cambium encoded is stored as plain numbers. Its checksums
/// are compared before anything is decoded. InputError where there is nothing of it, and where the file is damaged.
std::vector<Recoded> decompress_file(const std::string& from, const std::string& to);

}  // namespace cambium::io
