// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/graph/datasets/molecules.hpp"
#include "plugins/graph/tasks/molecule_energies.hpp"

namespace cambium::graph {

void register_types(Registry& registry) {
  registry.add<Molecules>("molecules", "molecules with energies and forces: HDF5, extended XYZ, or made up")
      .synonyms({"molecule", "qm7", "qm9", "gdb"});
  registry
      .add<MoleculeEnergies>("molecule_energies", "models of energies beside linear fits and a Coulomb-matrix kernel")
      .synonyms({"energies", "energies_of_molecules"});
}

}  // namespace cambium::graph
