#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::graph {

/// A molecule or a cluster in vacuum, or atoms of a periodic cell.
struct Molecule {
  std::vector<std::int32_t> species;  ///< atomic numbers
  std::vector<double> position;       ///< (atoms, 3), Å
  double energy = 0.0;                ///< in the table's unit
  std::vector<double> force;          ///< (atoms, 3), the table's unit per Å; empty where unknown
  std::vector<std::int32_t> bond;     ///< (bonds, 3): two atoms of this molecule, order; empty where unknown
  std::array<double, 9> cell{};       ///< rows a, b, c in Å; zeros along directions that are not periodic
  bool periodic() const { return cell != std::array<double, 9>{}; }
  std::int64_t atoms() const { return std::ssize(species); }
};

/// Content of a file or of a synthetic data set.
struct MoleculeTable {
  std::vector<Molecule> molecules;
  std::vector<int> fold;                              ///< of each molecule, from 0; empty if the source has none
  bool forces = false, bonds = false, cells = false;  ///< cells: at least one is periodic
  std::string energy_unit;                            ///< empty if not given by the source
  std::vector<std::string> remarks;                   ///< messages of the file reader, for the log
};

/// InputError that begins with `place` ("'file.h5', molecule 3"): an unknown atomic number, a value that is not finite,
/// two atoms or images closer than 0.3 Å (as with lengths in nm), a flat cell, a bond between atoms that do not exist.
void require_sound(const Molecule& molecule, const std::string& place);

/// Reads one group of an HDF5 file: offset (molecules + 1: molecule m has the atoms offset[m] to offset[m + 1] - 1),
/// species (atoms), position (atoms, 3) in Å, energy (molecules; its attribute `unit` is kept), and, optionally, force
/// (atoms, 3), bond (bonds, 3) with bond_offset (molecules + 1), fold (molecules). InputError for anything else.
MoleculeTable read_molecule_h5(const std::string& path, const std::string& group);

/// Reads every frame of an extended XYZ file: species and pos of Properties, the energy from the comment's key
/// `energy`, the column `force` if present; if these names are the defaults, also those of MACE and others. A cell is
/// periodic along the directions given by pbc.
MoleculeTable read_molecule_xyz(const std::string& path, const std::string& energy, const std::string& force);

}  // namespace cambium::graph
