// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/submatrix/task/density_task.hpp"

namespace cambium::submatrix {

void register_types(Registry& registry) {
  registry.add<DensityTask>("density_matrix", "density matrix, energy, electrons and chemical potential from Hamiltonian and overlap");
}

}  // namespace cambium::submatrix
