#pragma once
#include "core/io/hdf5/h5.hpp"
#include "plugins/pretrain/search/stated_recall.hpp"

namespace cambium::pretrain {

/// Origin of entries; empty if unknown.
struct EntryMarks {
  std::vector<std::int64_t> simulation, moment;
  std::vector<double> time;
};

/// An index, its measured recall, and the origin of its rows.
struct StatedIndex {
  InvertedLists lists;
  StatedRecall stated;
  EntryMarks marks = {};
  std::string model = {};  ///< hash of the model that computed the vectors; empty if unknown
};

/// Writes /rows, /centres, /start, /number, /unit and /bytes of an index (see InvertedLists::Parts), its measured
/// recall as attributes, and /simulation, /moment, /time of the rows if they are known.
void write_index(io::File& file, const StatedIndex& index);

/// InputError for a file without an index, or one with inconsistent arrays.
StatedIndex read_index(const std::string& path);

}  // namespace cambium::pretrain
