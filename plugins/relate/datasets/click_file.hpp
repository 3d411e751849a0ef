#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plugins/relate/datasets/record_set.hpp"

namespace cambium::relate {

/// Part of a file of clicks that is read, and how values become rows.
struct ClickFile {
  std::string file, group, vocabulary;
  std::int64_t least = 2;
  std::vector<std::int64_t> rows;    ///< of each column, whose entries then are numbers of rows as they stand
  std::string vocabulary_file = {};  ///< file of the group `vocabulary`; `file` where empty
  bool logarithm = true;             ///< of numbers; else they are taken as they are
};

/// A group of an HDF5 file: label (n) of 0 and 1, categorical or code (n, columns) of whole numbers, and where it is
/// there dense (n, numbers), NaN where missing. A number x becomes log(1 + max(x, 0)), or stays x, and whether it is
/// missing; a value of a column becomes a row of the column's table, one for each value that stands at least `least`
/// times in the group `vocabulary` (in ascending order, from 1), and row 0 for all others. InputError names file,
/// array, row and column.
RecordSet read_clicks(const ClickFile& keys);

struct MadeClicks {
  std::int64_t records = 4000, columns = 6, rows = 30, numbers = 4;
  std::int64_t first = 0;  ///< number of the first record: other ones of the same world
  std::int64_t seed = 1;
};
/// Clicks by a known rule: every row has a weight and a direction, and records whose rows point the same way are
/// clicked more often. A function of the keys alone.
RecordSet make_clicks(const MadeClicks& keys);

}  // namespace cambium::relate
