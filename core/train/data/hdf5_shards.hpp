#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/io/cf/decoding.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// File properties of a data set that must be known before reading samples.
struct Shards {
  /// Storage of one array of one file.
  struct Array {
    std::int64_t chunk_rows = 0;   ///< samples in one storage chunk; 0: contiguous
    std::int64_t chunk_parts = 1;  ///< number of chunks that together hold one sample
    std::int64_t chunk_bytes = 0;  ///< mean size of one chunk on disk
    bool marked = false;           ///< attributes change the meaning of its values: see MarkedArray
  };
  struct Shard {
    std::string path;
    std::int64_t first = 0;  ///< index of its first sample
    std::int64_t rows = 0;
    std::vector<Array> arrays;  ///< by field
  };
  std::vector<FieldInfo> fields;
  std::vector<std::string> paths;  ///< array of each field
  std::vector<Shard> shards;
  std::vector<std::string> remarks;  ///< warnings; not part of the text

  std::int64_t rows() const { return shards.empty() ? 0 : shards.back().first + shards.back().rows; }
  std::size_t shard_of(std::int64_t row) const;
};

/// A field as requested by a deck.
struct WantedField {
  std::string name, path;  ///< of the field and of its array
  std::string unit = "?";  ///< unit given in the deck; "?" if none
  io::cf::DecodingOptions decoding;
};

/// Opens every file once. InputError as Hdf5Dataset::open.
Shards look_at(std::span<const std::string> files, const std::vector<WantedField>& wanted);

/// Serialised for the other ranks, and back.
std::string to_text(const Shards& shards);
Shards shards_from(const std::string& text);

}  // namespace cambium::train
