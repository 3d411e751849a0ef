#pragma once
#include <optional>
#include <string>
#include <vector>

namespace cambium::relate {

/// Roles of the columns of a table. Without a column of names, compounds or targets are named by their text.
struct PairColumns {
  std::optional<std::size_t> compound, target, fold;
  std::size_t smiles = 0, sequence = 0, value = 0;
  std::vector<std::string> unused;  ///< names of the others
};

/// Determined from the names of the columns, in any order and case: those of this data set (compound, smiles, target,
/// sequence, fold) and of Therapeutics Data Commons (Drug_ID, Drug, Target_ID, Target, Y) and the like; the value is
/// the column called `value`, or else the remaining one. `where`: for messages. InputError if the names are ambiguous
/// or incomplete.
PairColumns pair_columns(const std::vector<std::string>& names, const std::string& value, const std::string& where);

}  // namespace cambium::relate
