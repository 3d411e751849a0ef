#include "plugins/submatrix/tasks/matrix_input.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "plugins/submatrix/matrices/matrix_file.hpp"
#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

void MatrixInput::describe(deck::Describe<MatrixInput>& d) {
  d("file", &MatrixInput::file,
    "Hamiltonian K and overlap S in Cambium's HDF5 layout (docs: plugins/submatrix/README.md)")
      .def("");
  d("hamiltonian", &MatrixInput::hamiltonian,
    "instead of file: Matrix Market, or CP2K's KS_CSR_WRITE (text or binary), of a Gamma-point cell")
      .def("");
  d("overlap", &MatrixInput::overlap, "the same for S (S_CSR_WRITE); without it the basis is orthogonal").def("");
  d("hamiltonian_down", &MatrixInput::hamiltonian_down,
    "Hamiltonian of spin down; 'hamiltonian' is then that of spin up (CP2K writes one file for each spin)")
      .def("");
  d("molecule", &MatrixInput::molecule,
    "number of functions of each atom of one molecule, repeated to the last row, e.g. `[4, 1, 1]`; used with "
    "hamiltonian")
      .def({});
  d("supercell", &MatrixInput::supercell, "copies of the cell along its three vectors").def({1, 1, 1});
  d("blocks", &MatrixInput::blocks, "definition of the block rows")
      .options({{"molecule", BlockKind::molecule}, {"atom", BlockKind::atom}})
      .def(BlockKind::molecule);
  d("unit", &MatrixInput::unit, "unit of the Hamiltonian in the file; HDF5 files are in hartree")
      .options({"hartree", "eV"})
      .def("hartree");
  d("tight_binding", &MatrixInput::tight_binding,
    "instead of files: the built-in Hamiltonian of a crystal of carbon or silicon, one block per atom");
  d.check([](const MatrixInput& input) -> std::string {
    if (input.tight_binding) {
      if (!input.file.empty() || !input.hamiltonian.empty() || !input.overlap.empty() ||
          !input.hamiltonian_down.empty() || !input.molecule.empty() || input.supercell != std::vector<int>{1, 1, 1})
        return "tight_binding makes its own matrices; leave the other keys of matrices out (lattice.cells is the "
               "supercell)";
      return {};
    }
    if (input.file.empty() == input.hamiltonian.empty())
      return "give either file (HDF5) or hamiltonian (and overlap), or tight_binding";
    if (!input.hamiltonian_down.empty() && input.hamiltonian.empty())
      return "hamiltonian_down goes with hamiltonian; in an HDF5 file the groups K_down hold spin down";
    if (!input.hamiltonian.empty() && input.molecule.empty())
      return "hamiltonian needs molecule: the functions of each atom of one molecule, for example [4, 1, 1]";
    if (!input.hamiltonian.empty() && input.supercell != std::vector<int>{1, 1, 1})
      return "supercells need lattice-resolved matrices (file); the files of hamiltonian and overlap are of one cell";
    if (input.supercell.size() != 3) return "supercell needs three whole numbers, for example [2, 2, 2]";
    for (int n : input.supercell)
      if (n < 1) return fmt::format("supercell has {}; copies are counted from 1", n);
    return {};
  });
}

MatrixSystem read_matrices(const MatrixInput& input, Context& context) {
  if (input.tight_binding)
    return crystal_matrices(*input.tight_binding, input.tight_binding->frame, context.seed, context.comm);
  const Cell n{input.supercell[0], input.supercell[1], input.supercell[2]};
  CellSystem cell;
  Reference reference;
  io::on_every_rank(context.comm, [&] {
    if (!input.hamiltonian.empty()) {
      cell = read_matrix_files(input.hamiltonian, input.overlap, input.molecule, input.blocks,
                               input.unit == "eV" ? 1.0 / ev_per_hartree : 1.0, input.hamiltonian_down);
      return;
    }
    if (!std::filesystem::exists(input.file))
      throw KeyError(
          "matrices.file", "file",
          fmt::format("matrix file '{}' does not exist; check the path (relative paths start at the folder where the "
                      "program was started)",
                      input.file));
    if (input.unit != "hartree")
      throw KeyError("matrices.unit", "unit",
                     fmt::format("matrices.unit is {}, but '{}' is in Cambium's HDF5 layout, whose energies are in "
                                 "hartree; leave 'unit' out",
                                 input.unit, input.file));
    cell = read_hdf5_cell(input.file, input.blocks);
    reference = read_hdf5_reference(input.file, n);
  });
  MatrixSystem out = supercell(cell, n, context.comm);
  out.reference = reference;
  out.name = fmt::format("{} {}x{}x{}",
                         std::filesystem::path(input.file.empty() ? input.hamiltonian : input.file).filename().string(),
                         n[0], n[1], n[2]);
  return out;
}

}  // namespace cambium::submatrix
