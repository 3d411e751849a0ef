#include "plugins/submatrix/task/matrix_input.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/agree.hpp"
#include "plugins/submatrix/matrices/hdf5_reader.hpp"

namespace cambium::submatrix {

void MatrixInput::describe(deck::Describe<MatrixInput>& d) {
  d("file", &MatrixInput::file, "Hamiltonian K and overlap S in Cambium's HDF5 layout (docs: plugins/submatrix/README.md)");
  d("supercell", &MatrixInput::supercell, "copies of the cell along its three vectors").def({1, 1, 1});
  d("blocks", &MatrixInput::blocks, "what the block rows are")
      .options({{"molecule", BlockKind::molecule}, {"atom", BlockKind::atom}}).def(BlockKind::molecule);
  d("unit", &MatrixInput::unit, "unit of the Hamiltonian in the file").options({"hartree", "eV"}).def("hartree");
  d.check([](const MatrixInput& input) -> std::string {
    if (input.supercell.size() != 3) return "supercell needs three whole numbers, for example [2, 2, 2]";
    for (int n : input.supercell)
      if (n < 1) return fmt::format("supercell has {}; copies are counted from 1", n);
    return {};
  });
}

MatrixSystem read_matrices(const MatrixInput& input, Context& context) {
  const Cell n{input.supercell[0], input.supercell[1], input.supercell[2]};
  CellSystem cell;
  Reference reference;
  io::on_every_rank(context.comm, [&] {
    if (!std::filesystem::exists(input.file)) throw InputError(fmt::format("matrix file '{}' does not exist", input.file));
    if (input.unit != "hartree")
      throw InputError(fmt::format("matrices.unit is {}, but '{}' is in Cambium's HDF5 layout, whose energies are in hartree; leave 'unit' out",
                                   input.unit, input.file));
    cell = read_hdf5_cell(input.file, input.blocks);
    reference = read_hdf5_reference(input.file, n);
  });
  MatrixSystem out = supercell(cell, n, context.comm);
  out.reference = reference;
  out.name = fmt::format("{} {}x{}x{}", std::filesystem::path(input.file).filename().string(), n[0], n[1], n[2]);
  return out;
}

}  // namespace cambium::submatrix
