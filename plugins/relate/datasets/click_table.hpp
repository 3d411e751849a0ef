#pragma once
#include <array>
#include <optional>

#include "plugins/relate/datasets/click_columns.hpp"
#include "plugins/relate/datasets/record_set.hpp"

namespace cambium::relate {

/// First record and the one after the last; all, where absent.
using RecordRange = std::optional<std::array<std::int64_t, 2>>;

/// Records of a file, as they are there.
struct ClickTable {
  std::string source;               ///< for messages
  std::vector<double> labels;       ///< empty: there are none
  std::vector<std::string> dense;   ///< names of the numbers
  std::vector<double> number;       ///< records x numbers; NaN: missing
  std::vector<std::string> tables;  ///< names of the categorical columns
  Categories categories;
  std::vector<std::int64_t> place;  ///< row or line of each record
  std::vector<std::string> notes;
};

/// Reads a text with a line for each record. Missing numbers are empty, or words such as NaN (io::is_missing_cell()); a
/// category is any text. InputError "file:line: ..." for a line with another number of cells than the first, a missing
/// label, and a cell that is not a number where one is expected; KeyError as click_columns(), and for a range beyond
/// the last record.
ClickTable read_click_text(const std::string& path, const ClickTextKeys& keys, const RecordRange& range);

/// Reads a group of an HDF5 file: label, categorical or code, and, optionally, dense.
ClickTable read_click_h5(const std::string& path, const std::string& group, const RecordRange& range);

/// Its values only, for a vocabulary.
Categories read_click_categories(const std::string& path, const std::string& group);

/// InputError if a range does not lie within `records`.
void require_within(const RecordRange& range, std::int64_t records, const std::string& source);

}  // namespace cambium::relate
