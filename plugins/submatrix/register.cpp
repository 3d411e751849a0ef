// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/submatrix/datasets/local_spectra.hpp"
#include "plugins/submatrix/networks/local_levels.hpp"
#include "plugins/submatrix/potentials/dftb.hpp"
#include "plugins/submatrix/potentials/tight_binding.hpp"
#include "plugins/submatrix/tasks/density_matrix.hpp"
#include "plugins/submatrix/tasks/dftb.hpp"
#include "plugins/submatrix/tasks/local_spectra.hpp"
#include "plugins/submatrix/tools/tools.hpp"

namespace cambium::submatrix {

void register_types(Registry& registry) {
  registry
      .add<DensityTask>("density_matrix",
                        "density matrix, energy, electrons and chemical potential from Hamiltonian and overlap")
      .synonyms({"density", "submatrix", "purification", "sign", "matrix_sign", "electronic_structure"});

  registry.add<LocalSpectra>("local_spectra",
                             "moments, band energies and levels of Hamiltonians, to train local_levels on");
  registry.add<SpectraSet>("local_spectra",
                           "files that the stage local_spectra wrote, one sample for each Hamiltonian");
  registry.add<LocalLevels>("local_levels",
                            "highest occupied and lowest empty level and the band energy of each block column from "
                            "moments of its local spectrum");

  registry
      .add<TightBinding>("tight_binding", "orthogonal sp3 tight binding of carbon or silicon by the submatrix method")
      .synonyms({"tb", "xtb", "tightbinding"});

  registry
      .add<Dftb>("dftb",
                 "density-functional tight binding with self-consistent charges (DFTB2) from Slater-Koster files")
      .synonyms({"dftb2", "dftbplus", "scc_dftb"});
  registry.add<DftbTask>("dftb", "single point of DFTB2: energies, charges, levels and forces of a structure")
      .synonyms({"dftb2", "dftbplus", "scc_dftb"});

  for (Command& command : dftb_commands()) registry.add_command(std::move(command));
}

}  // namespace cambium::submatrix
