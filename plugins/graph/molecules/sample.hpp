#pragma once
#include <array>
#include <span>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/molecules/molecule.hpp"

namespace cambium::graph {

/// Arrays of a molecule's sample: species (atoms) int32, position (atoms, 3) in Å, energy, and, if the table has them,
/// force (atoms, 3), bond (bonds, 3) int32 and cell (3, 3) in Å.
std::vector<train::FieldInfo> molecule_fields(const MoleculeTable& table);

/// The molecule as a sample, which takes ownership.
train::SamplePtr molecule_sample(Molecule molecule, const MoleculeTable& table, std::int64_t id);

/// View of such a sample, or of an atomic configuration of the data sets deepmd_npy and extxyz: species (symbols
/// separated by blanks), type (atoms) int32, coord (atoms, 3) and box (3, 3) in Å, energy, force. Valid as long as the
/// sample exists.
struct MoleculeView {
  std::vector<std::int32_t> species;
  std::span<const double> position, force;  ///< force is empty where unknown
  std::span<const std::int32_t> bond;       ///< empty where unknown
  double energy = 0.0;
  std::array<double, 9> cell{};  ///< rows a, b, c in Å; zeros along directions that are not periodic
  bool periodic() const { return cell != std::array<double, 9>{}; }
  std::int64_t atoms() const { return std::ssize(species); }
};

/// InputError if the sample is neither.
MoleculeView molecule_of(const train::Sample& sample);

}  // namespace cambium::graph
