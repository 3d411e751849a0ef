#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/molecules/molecule.hpp"

namespace cambium::graph {

/// Arrays of a molecule's sample: species (atoms) int32, position (atoms, 3) in Å, energy, and where the table has them
/// force (atoms, 3) and bond (bonds, 3) int32.
std::vector<train::FieldInfo> molecule_fields(const MoleculeTable& table);

/// The molecule as a sample; takes it over.
train::SamplePtr molecule_sample(Molecule molecule, const MoleculeTable& table, std::int64_t id);

/// Content of such a sample. Lives as long as the sample.
struct MoleculeView {
  std::vector<std::int32_t> species;
  std::span<const double> position, force;  ///< force is empty where unknown
  std::span<const std::int32_t> bond;       ///< empty where unknown
  double energy = 0.0;
  std::int64_t atoms() const { return std::ssize(species); }
};

/// InputError when the sample is none of a molecule.
MoleculeView molecule_of(const train::Sample& sample);

}  // namespace cambium::graph
