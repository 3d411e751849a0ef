#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plugins/relate/datasets/click_table.hpp"

namespace cambium::relate {

/// Records of a click file to read, and the conversion of values to table rows.
struct ClickFile {
  std::string file, group, vocabulary;
  std::int64_t least = 2;
  std::vector<std::int64_t> rows;    ///< of each column, whose entries are then used as row indices
  std::string vocabulary_file = {};  ///< file of the group `vocabulary`; `file` if empty
  bool logarithm = true;             ///< of dense features; otherwise they are used unchanged
  ClickTextKeys text = {};           ///< of a text
  RecordRange range = {};
};

/// Log lines about a click file.
using Notes = std::vector<std::string>;

/// A text table, or a group of an HDF5 file: label (n) of 0 and 1 or -1 and 1, categorical or code (n, columns) of
/// integers or text, and, optionally, dense (n, features), NaN if missing. A dense feature x becomes log(1 + max(x,
/// 0)), or stays x, plus an indicator of missing values; a categorical value becomes a row of the column's table, one
/// for each value that occurs at least `least` times in the vocabulary (in ascending order, from 1), and row 0 for all
/// others. The vocabulary is that of these records, unless `vocabulary` or `vocabulary_file` gives others. InputError
/// names file, array, row and column.
RecordSet read_clicks(const ClickFile& keys, Notes* notes = nullptr);

struct MadeClicks {
  std::int64_t records = 4000, columns = 6, rows = 30, numbers = 4;
  std::int64_t first = 0;  ///< index of the first record: other records of the same distribution
  std::int64_t seed = 1;
};
/// Clicks by a known rule: every row has a weight and a direction, and records with aligned rows are clicked more
/// often. Depends on the keys only.
RecordSet make_clicks(const MadeClicks& keys);

}  // namespace cambium::relate
