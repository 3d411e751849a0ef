#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::io {

/// Where the words of a line of the section Atoms stand.
struct LammpsAtomStyle {
  std::string_view name;
  std::string_view columns;  ///< as LAMMPS' manual lists them; "..." at the end for styles that may have more
  int type() const;          ///< place of the type, from 0
  int position() const;      ///< of x
  int charge() const;        ///< of q; -1 where the style has none
  int words() const;         ///< of a line without image flags
  bool open() const { return columns.ends_with("..."); }
  /// True if a line of so many words may be of this style, without image flags or with them.
  bool fits(int words) const;
  /// The columns that are neither ids, types nor positions.
  std::vector<std::string> others() const;
};

/// The style that a word names, alone or with the suffix of an accelerated one (atomic/kk, full/omp); nullptr for any
/// other word.
const LammpsAtomStyle* lammps_atom_style(std::string_view name);

/// Statistics over all lines of the section Atoms, which determine a style that the file does not name.
struct LammpsAtomLines {
  int words = 0;               ///< of each line
  std::vector<bool> integers;  ///< by column: whether every line has a whole number there
  std::vector<bool> types;     ///< by column: whether every line has a type of the file there
  bool same_types = true;      ///< whether the second and third columns are equal in every line
};

/// The style of these lines; nullptr where none or more than one of atomic, charge, molecular and full is possible.
const LammpsAtomStyle* judged_atom_style(const LammpsAtomLines& lines);

/// The names of the styles whose lines have so many words, image flags or not, for messages.
std::vector<std::string> lammps_styles_of(int words);

}  // namespace cambium::io
