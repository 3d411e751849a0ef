#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::io {

/// Column layout of the lines of the section Atoms.
struct LammpsAtomStyle {
  std::string_view name;
  std::string_view columns;  ///< as LAMMPS' manual lists them; "..." at the end for styles that may have more
  int type() const;          ///< column of the type, from 0
  int position() const;      ///< of x
  int charge() const;        ///< of q; -1 if the style has none
  int words() const;         ///< of a line without image flags
  bool open() const { return columns.ends_with("..."); }
  /// True if a line of this many words may be of this style, with or without image flags.
  bool fits(int words) const;
  /// The columns that are neither ids, types nor positions.
  std::vector<std::string> others() const;
};

/// The style of this name, with or without the suffix of an accelerated one (atomic/kk, full/omp); nullptr for any
/// other word.
const LammpsAtomStyle* lammps_atom_style(std::string_view name);

/// Statistics over all lines of the section Atoms, which determine a style that the file does not name.
struct LammpsAtomLines {
  int words = 0;               ///< of each line
  std::vector<bool> integers;  ///< by column: true if every line has an integer there
  std::vector<bool> types;     ///< by column: true if every line has a type of the file there
  bool same_types = true;      ///< true if the second and third columns are equal in every line
};

/// The style of these lines; nullptr if none or more than one of atomic, charge, molecular and full is possible.
const LammpsAtomStyle* judged_atom_style(const LammpsAtomLines& lines);

/// Names of the styles whose lines have this many words, with or without image flags, for messages.
std::vector<std::string> lammps_styles_of(int words);

}  // namespace cambium::io
