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

/// The columns of a frame's atoms, as its key Properties names them ("species:S:1:pos:R:3" where there is none).
/// Known are the names that ASE, GPUMD, MACE, QUIP, LAMMPS' dump extxyz, OVITO and dpdata write; the case of letters is
/// free. Where two columns have one meaning (forces and REF_forces), the first of the table is taken.
class ExtxyzColumns {
 public:
  struct Used {
    int first = -1;    ///< index among the words of a line; -1 if absent
    int width = 0;     ///< words
    std::string name;  ///< as the file spells it
  };

  /// `force` names the columns of forces that may be taken, the first that is there; without any the table's names.
  /// InputError for a list that is none, for columns of a wrong number, and where species or positions are missing.
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

/// Names of labels by ASE, MACE, GPUMD, QUIP and dpdata, the first that is there to be taken: columns of forces (eV/Å),
/// and keys of the comment line: energies (eV), virials (eV, -volume times stress), stresses (eV/Å^3, positive under
/// tension, as ASE has it). Stress with a capital letter is none of them: LAMMPS' dump extxyz writes its pressure so,
/// of the other sign and in the unit of its style.
const std::vector<std::string>& extxyz_force_names();
const std::vector<std::string>& extxyz_energy_names();
const std::vector<std::string>& extxyz_virial_names();
const std::vector<std::string>& extxyz_stress_names();

/// The first of these keys that is there; nullptr where there is none.
const ExtxyzComment::Pair* first_of(const TextLines& file, const ExtxyzComment& comment,
                                    const std::vector<std::string>& names);

}  // namespace cambium::io
