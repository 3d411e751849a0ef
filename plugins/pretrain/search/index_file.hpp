#pragma once
#include "core/io/hdf5/h5.hpp"
#include "plugins/pretrain/search/stated_recall.hpp"

namespace cambium::pretrain {

/// Where entries come from; empty where that is not known.
struct EntryMarks {
  std::vector<std::int64_t> simulation, moment;
  std::vector<double> time;
};

/// An index, what it states of itself, and what its rows are.
struct StatedIndex {
  InvertedLists lists;
  StatedRecall stated;
  EntryMarks marks = {};
  std::string model = {};  ///< by which the model whose vectors these are is known again; empty where that is unknown
};

/// /rows, /centres, /start, /number, /unit and /bytes of an index (see InvertedLists::Parts), what it states as
/// attributes, and /simulation, /moment, /time of the rows where they are known.
void write_index(io::File& file, const StatedIndex& index);

/// InputError for a file that holds none, or one whose arrays do not belong together.
StatedIndex read_index(const std::string& path);

}  // namespace cambium::pretrain
