#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/constants.hpp"
#include "core/parallel/context.hpp"
#include "plugins/submatrix/columns/block_columns.hpp"

namespace cambium::submatrix {

struct BondGraph;

using constants::ev_per_hartree;
/// Boltzmann's constant, hartree/K.
inline constexpr double boltzmann_hartree = constants::boltzmann / ev_per_hartree;

/// Units into which the rows of the matrices are partitioned: molecules (fewer, larger blocks), atoms, or atoms that
/// METIS groups by their couplings.
enum class BlockKind { molecule, atom, metis };

/// An atom inside a block: its functions are consecutive rows of the block.
struct BlockAtom {
  int number = 0;  ///< atomic number
  int functions = 0;
  int index = -1;  ///< in the order of the file, of the atoms of one cell; -1: the order of the blocks is that
};

/// Reference answer from the file (Hartree).
struct Reference {
  std::optional<double> band_energy, homo, lumo;
};

/// Point of the Brillouin zone in units of the reciprocal cell vectors, and its weight.
struct BlochPoint {
  std::array<double, 3> k{};
  double weight = 1.0;
};

/// Hamiltonian and overlap of a system in an atomic basis, distributed over ranks by block column. Hartree.
struct MatrixSystem {
  std::shared_ptr<const BlockLayout> layout;
  ColumnRanges ranges;
  BlockColumns hamiltonian, overlap;
  std::int64_t atoms = 0;
  double electrons = 0.0;  ///< 0 when the source does not know
  std::vector<std::vector<BlockAtom>>
      block_atoms;  ///< of the blocks of one cell; block b is entry b modulo their number
  Reference reference;
  std::string name;                ///< for the log: source and size
  std::vector<std::string> notes;  ///< what the reader changed or noticed
  /// For every block's first atom (angstrom), the same on all ranks; empty where the source does not know.
  std::vector<std::array<double, 3>> centres = {};
  std::optional<BlockColumns> hamiltonian_down = {};  ///< of spin down; `hamiltonian` is then that of spin up
  /// 2: blocks 2 b and 2 b + 1 are block b of spin up and of spin down, without elements between them.
  int channels = 1;
  /// Tight binding: the blocks that are there are the submatrices, however small (eps is 0), the basis is orthogonal,
  /// and solvers saturate the bonds that a submatrix cuts.
  std::shared_ptr<const BondGraph> bonds = {};
  /// How often every state of the cell occurs: results are sums over the copies. A complex Hermitian matrix A + i B is
  /// kept as the real one [A, -B; B, A] (functions next to each other), which has each of its levels twice: that of k
  /// and that of -k. At k-points the blocks of all points follow one another.
  int copies = 1;
  std::vector<BlochPoint> k_points = {};  ///< empty: one cell or supercell as it is
  int points() const { return k_points.empty() ? 1 : static_cast<int>(k_points.size()); }
  std::int64_t functions() const { return layout->dimension() / copies; }  ///< of the cell
  bool complex = false;  ///< blocks hold real and imaginary parts as above, at least at one k-point
  std::int64_t reading_bytes =
      0;  ///< most bytes of elements on this rank while files were read; 0: not from such files
};

}  // namespace cambium::submatrix
