#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/io/cf/decoding.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Properties of the files of a data set that must be known before a sample is read.
struct Shards {
  /// Storage of one array of one file.
  struct Array {
    std::int64_t chunk_rows = 0;   ///< samples in one storage chunk; 0: the array lies in one piece
    std::int64_t chunk_parts = 1;  ///< chunks side by side that hold the rest of a sample
    std::int64_t chunk_bytes = 0;  ///< of one chunk on disk, on average
    bool marked = false;           ///< attributes change what its numbers mean: see MarkedArray
  };
  struct Shard {
    std::string path;
    std::int64_t first = 0;  ///< number of its first sample
    std::int64_t rows = 0;
    std::vector<Array> arrays;  ///< by field
  };
  std::vector<FieldInfo> fields;
  std::vector<std::string> paths;  ///< array of each field
  std::vector<Shard> shards;
  std::vector<std::string> remarks;  ///< what to warn of; not part of the text

  std::int64_t rows() const { return shards.empty() ? 0 : shards.back().first + shards.back().rows; }
  std::size_t shard_of(std::int64_t row) const;
};

/// A field as a deck asks for it.
struct WantedField {
  std::string name, path;  ///< and that of its array
  std::string unit = "?";  ///< that the deck says it is in, unless "?"
  io::cf::DecodingOptions decoding;
};

/// Opens every file once. InputError as Hdf5Dataset::open.
Shards look_at(std::span<const std::string> files, const std::vector<WantedField>& wanted);

/// As text for the other ranks, and back.
std::string to_text(const Shards& shards);
Shards shards_from(const std::string& text);

}  // namespace cambium::train
