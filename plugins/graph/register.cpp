// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/graph/datasets/mesh_trajectories.hpp"
#include "plugins/graph/datasets/molecules.hpp"
#include "plugins/graph/tasks/molecule_energies.hpp"
#include "plugins/graph/tasks/roll_out.hpp"

namespace cambium::graph {

void register_types(Registry& registry) {
  registry.add<Molecules>("molecules", "molecules with energies and forces: HDF5, extended XYZ, or made up")
      .synonyms({"molecule", "qm7", "qm9", "gdb"});
  registry
      .add<MoleculeEnergies>("molecule_energies", "models of energies beside linear fits and a Coulomb-matrix kernel")
      .synonyms({"energies", "energies_of_molecules"});
  registry
      .add<MeshTrajectories>("mesh_trajectories",
                             "steps of simulated fields on graphs or meshes, disturbed where asked for")
      .synonyms({"trajectories", "graph_trajectories"});
  registry
      .add<RollOut>("roll_out", "a network of one step applied to its own answers, beside persistence and linear steps")
      .synonyms({"rollout", "surrogate_error"});
}

}  // namespace cambium::graph
