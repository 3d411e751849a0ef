#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/io/structures/extxyz_comment.hpp"

namespace cambium::io {

/// Meaning of a column of Properties.
enum class ExtxyzRole {
  species,
  number,
  position,
  velocity,
  momentum,
  mass,
  force,
  id,
  unwrapped,
  travel,
  charge,
  moves,
  reference,
  count
};

/// The columns of a frame's atoms, as named by its key Properties ("species:S:1:pos:R:3" if there is none). Recognised
/// are the names written by ASE, GPUMD, MACE, QUIP, LAMMPS' dump extxyz, OVITO and dpdata, case-insensitive. If two
/// columns have one meaning (forces and REF_forces), the first of the table is taken.
class ExtxyzColumns {
 public:
  struct Used {
    int first = -1;    ///< index among the words of a line; -1 if absent
    int width = 0;     ///< words
    std::string name;  ///< as the file spells it
  };

  /// `force` names the allowed columns of forces, of which the first present is taken; without any the table's names.
  /// InputError for a malformed list, for columns of a wrong number, and if species or positions are missing.
  ExtxyzColumns(const TextLines& file, const ExtxyzComment& comment, const std::vector<std::string>& force);
  ExtxyzColumns() = default;

  const Used& operator[](ExtxyzRole role) const { return used_[static_cast<std::size_t>(role)]; }
  bool has(ExtxyzRole role) const { return (*this)[role].first >= 0; }
  int count() const { return count_; }               ///< words of a line
  bool named() const { return named_; }              ///< whether the frame has Properties
  const std::string& text() const { return text_; }  ///< of Properties
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Column;
  std::vector<Column> parse(const TextLines& file);
  void choose(const TextLines& file, const std::vector<Column>& columns, const std::vector<std::string>& force);
  std::array<Used, static_cast<std::size_t>(ExtxyzRole::count)> used_;
  std::vector<std::string> names_;
  std::string text_ = "species:S:1:pos:R:3";
  int count_ = 0;
  bool named_ = false;
};

/// Names of labels by ASE, MACE, GPUMD, QUIP and dpdata, of which the first present is taken: columns of forces (eV/Å),
/// and keys of the comment line: energies (eV), virials (eV, -volume times stress), stresses (eV/Å^3, positive under
/// tension, as in ASE). Stress with a capital letter is not among them: LAMMPS' dump extxyz uses it for its pressure,
/// of the other sign and in the unit of its style.
const std::vector<std::string>& extxyz_force_names();
const std::vector<std::string>& extxyz_energy_names();
const std::vector<std::string>& extxyz_virial_names();
const std::vector<std::string>& extxyz_stress_names();

/// The first of these keys that is present; nullptr if there is none.
const ExtxyzComment::Pair* first_of(const TextLines& file, const ExtxyzComment& comment,
                                    const std::vector<std::string>& names);

}  // namespace cambium::io
