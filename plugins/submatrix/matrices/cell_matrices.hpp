#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

using Cell = std::array<int, 3>;

/// The basis of one cell: which atom each function belongs to.
struct CellBasis {
  std::vector<int> atom_functions;                 ///< per atom, in the order of the file's rows
  std::vector<int> molecule;                       ///< per atom
  std::vector<int> number;                         ///< per atom, may be 0
  std::vector<std::array<double, 3>> position;     ///< per atom (angstrom), may be empty
  std::array<std::array<double, 3>, 3> vectors{};  ///< of the cell (angstrom), with positions
  double electrons = 0.0;                          ///< per cell
};

/// One non-zero of a lattice-resolved matrix: M(R) at (row, column), functions of the file, column in cell R.
struct LatticeEntry {
  Cell cell;
  int row, column;
  double value;
  double imaginary = 0.0;
};

/// A matrix of a crystal (or, with no cell but 0, of a molecule): blocks <row in cell 0| M |column in cell R>.
class CellMatrix {
 public:
  struct Term {
    Cell cell;
    int row;
    std::size_t at;  ///< of its values, row-major
  };
  CellMatrix(const std::vector<LatticeEntry>& entries, const std::vector<int>& block_of_function,
             const std::vector<int>& place_in_block, const BlockLayout& layout);
  const std::vector<Term>& column(int block) const { return columns_[block]; }
  const double* values(const Term& term) const { return values_.data() + term.at; }
  /// The largest norm of a block that differs from its mirror image's transpose, and where.
  struct Asymmetry {
    double value = 0.0;
    int row = 0, column = 0;
  };

 private:
  std::vector<std::vector<Term>> columns_;
  std::vector<double> values_;
};

/// Both matrices of one cell.
struct CellSystem {
  std::shared_ptr<const BlockLayout> layout;  ///< blocks of one cell
  std::vector<std::vector<BlockAtom>> block_atoms;
  std::optional<CellMatrix> hamiltonian, overlap;
  std::optional<CellMatrix> hamiltonian_down;  ///< with spin: `hamiltonian` is that of spin up
  double electrons = 0.0;
  std::vector<std::string> notes;
  int atoms = 0;
  std::vector<std::array<double, 3>> centres;  ///< of the blocks (angstrom), may be empty
  std::array<std::array<double, 3>, 3> vectors{};
};

/// Partitions a cell into blocks. Molecules that were wrapped at the cell's faces are unwrapped by moving atoms by
/// lattice vectors, which only relabels the same matrices; a note reports how many. The deciding bond is the cell shift
/// with the largest overlap to the molecule's first atom. Without spin-down entries there is one channel.
CellSystem make_cell(const CellBasis& basis, std::vector<LatticeEntry> hamiltonian, std::vector<LatticeEntry> overlap,
                     BlockKind kind, bool mend_molecules = true, std::vector<LatticeEntry> hamiltonian_down = {});

/// The n[0] x n[1] x n[2] supercell at the Gamma point. Block (i, j, k, b) has index ((i n1 + j) n2 + k) * blocks + b;
/// every rank assembles only the columns it will own. Columns are distributed so that their predicted costs are equal.
MatrixSystem supercell(const CellSystem& cell, Cell n, const Comm& comm);

}  // namespace cambium::submatrix
