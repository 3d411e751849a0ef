#include "plugins/submatrix/tasks/matrix_input.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/submatrix/matrices/hdf5_reader.hpp"
#include "plugins/submatrix/matrices/k_matrices.hpp"
#include "plugins/submatrix/matrices/matrix_files.hpp"
#include "plugins/submatrix/tasks/report.hpp"

namespace cambium::submatrix {

/// Keys that exclude or need each other; empty where all is well.
static std::string problem_of(const MatrixInput& input) {
  const bool others = !input.file.empty() || !input.hamiltonian.empty() || !input.overlap.empty() ||
                      !input.hamiltonian_down.empty() || !input.molecule.empty() || !input.atom_sizes.empty() ||
                      input.k_points || input.supercell != std::vector<int>{1, 1, 1};
  if (input.ring) {
    if (others || input.tight_binding) return "ring makes its own matrices; leave the other keys of matrices out";
    return {};
  }
  if (input.tight_binding) {
    if (others)
      return "tight_binding makes its own matrices; leave the other keys of matrices out (lattice.cells is the "
             "supercell)";
    return {};
  }
  if (input.file.empty() == input.hamiltonian.empty())
    return "give either file (HDF5) or hamiltonian (and overlap), or tight_binding or ring";
  if (!input.hamiltonian_down.empty() && input.hamiltonian.empty())
    return "hamiltonian_down goes with hamiltonian; in an HDF5 file the groups K_down hold spin down";
  if (!input.hamiltonian.empty() && input.molecule.empty() == input.atom_sizes.empty())
    return "hamiltonian needs molecule, the functions of each atom of one molecule, for example [4, 1, 1], or "
           "atom_sizes, a file with those of every atom";
  if (!input.atom_sizes.empty() && input.hamiltonian.empty())
    return "atom_sizes goes with hamiltonian; a file in Cambium's HDF5 layout has block_sizes_atom";
  if (input.blocks == BlockKind::metis && input.hamiltonian.empty())
    return "blocks: metis is for matrices by hamiltonian and overlap; a file in Cambium's HDF5 layout has atoms and "
           "molecules";
  if (input.k_points && input.file.empty())
    return "k_points need lattice-resolved matrices (file); a complex hamiltonian is already at one k-point";
  if (input.k_points && input.supercell != std::vector<int>{1, 1, 1})
    return "give k_points of the cell or a supercell, which is a grid of as many points; leave one of them out";
  if (!input.hamiltonian.empty() && input.supercell != std::vector<int>{1, 1, 1})
    return "supercells need lattice-resolved matrices (file); the files of hamiltonian and overlap are of one cell";
  if (input.supercell.size() != 3) return "supercell needs three whole numbers, for example [2, 2, 2]";
  for (int n : input.supercell)
    if (n < 1) return fmt::format("supercell has {}; copies are counted from 1", n);
  return {};
}

void MatrixInput::describe(deck::Describe<MatrixInput>& d) {
  d("file", &MatrixInput::file,
    "Hamiltonian K and overlap S in Cambium's HDF5 layout (docs: plugins/submatrix/README.md)")
      .def("");
  d("hamiltonian", &MatrixInput::hamiltonian,
    "instead of file, matrices of other programs: CP2K's KS_CSR_WRITE (text or binary), DBCSR's text, Matrix Market, "
    "ELSI's CSC, or a CSR matrix of SciPy in HDF5 (`file.h5:/group`); real symmetric, or complex Hermitian as at one "
    "k-point")
      .def("");
  d("overlap", &MatrixInput::overlap, "overlap S in the same formats (S_CSR_WRITE); without it the basis is orthogonal")
      .def("");
  d("hamiltonian_down", &MatrixInput::hamiltonian_down,
    "Hamiltonian of spin down; 'hamiltonian' is then that of spin up (CP2K writes one file for each spin)")
      .def("");
  d("molecule", &MatrixInput::molecule,
    "number of functions of each atom of one molecule, repeated to the last row, e.g. `[4, 1, 1]`; used with "
    "hamiltonian")
      .def({});
  d("atom_sizes", &MatrixInput::atom_sizes,
    "instead of molecule: text file with the number of functions of every atom, in the order of the rows; each atom is "
    "a block unless blocks is metis")
      .def("");
  d("supercell", &MatrixInput::supercell, "copies of the cell along its three vectors").def({1, 1, 1});
  d("k_points", &MatrixInput::k_points,
    "points of the Brillouin zone of the cell in file, instead of a supercell; results are averages over the zone");
  d("blocks", &MatrixInput::blocks,
    "definition of the block rows; metis: groups of strongly coupled atoms by graph partitioning of the Hamiltonian "
    "(with hamiltonian)")
      .options({{"molecule", BlockKind::molecule}, {"atom", BlockKind::atom}, {"metis", BlockKind::metis}})
      .def(BlockKind::molecule);
  d("block_functions", &MatrixInput::block_functions, "mean number of functions of a block of METIS")
      .at_least(1)
      .def(24);
  d("unit", &MatrixInput::unit, "unit of the Hamiltonian in the file; HDF5 files are in hartree")
      .options({"hartree", "eV"})
      .def("hartree");
  d("tight_binding", &MatrixInput::tight_binding,
    "instead of files: the built-in Hamiltonian of a crystal of carbon or silicon, one block per atom");
  d("ring", &MatrixInput::ring,
    "instead of files: a ring of atoms with alternating couplings and exactly known levels, one block per atom");
  d.check(problem_of);
}

namespace {

MatrixSystem from_files(const MatrixInput& input, const Comm& comm) {
  MatrixFiles files{
      input.hamiltonian, input.overlap, input.hamiltonian_down, input.molecule,
      input.atom_sizes,  input.blocks,  input.block_functions,  input.unit == "eV" ? 1.0 / ev_per_hartree : 1.0};
  MatrixSystem out = read_matrix_files(files, FileRanks(comm));
  out.name = std::filesystem::path(input.hamiltonian).filename().string();
  return out;
}

}  // namespace

MatrixSystem read_matrices(const MatrixInput& input, Context& context) {
  if (input.tight_binding)
    return crystal_matrices(*input.tight_binding, input.tight_binding->frame, context.seed, context.comm);
  if (input.ring) return ring_matrices(*input.ring, context.seed, context.comm);
  if (!input.hamiltonian.empty()) return from_files(input, context.comm);
  const Cell n{input.supercell[0], input.supercell[1], input.supercell[2]};
  CellSystem cell;
  Reference reference;
  io::on_every_rank(context.comm, [&] {
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
  const std::string name = std::filesystem::path(input.file).filename().string();
  if (input.k_points) {
    std::vector<BlochPoint> points;
    for (const auto& point : input.k_points->points()) points.push_back({point.k, point.weight});
    MatrixSystem out = at_k_points(cell, points, context.comm);
    out.name = name;
    return out;
  }
  MatrixSystem out = supercell(cell, n, context.comm);
  out.reference = reference;
  out.name = fmt::format("{} {}x{}x{}", name, n[0], n[1], n[2]);
  return out;
}

}  // namespace cambium::submatrix
