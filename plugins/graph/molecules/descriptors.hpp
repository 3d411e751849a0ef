#pragma once
#include <array>
#include <map>
#include <vector>

#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph {

/// The Coulomb matrix of a molecule (Rupp et al., Phys. Rev. Lett. 108, 058301 (2012)): 0.5 Z^2.4 on the diagonal,
/// Z_a Z_b / |r_a - r_b| beside it (r in Å), rows and columns sorted by falling norm of the rows, padded by zeros to
/// `size` atoms. The lower triangle, row by row.
std::vector<double> coulomb_matrix(const MoleculeView& molecule, std::int64_t size);

/// Numbers that stand for a molecule, in lists by name; where another molecule's list is longer, zeros follow.
using Descriptor = std::map<std::array<std::int32_t, 2>, std::vector<double>>;

/// The matrix above as one list.
Descriptor coulomb_descriptor(const MoleculeView& molecule);

/// Bags of bonds (Hansen et al., J. Phys. Chem. Lett. 6, 2326 (2015)): for each two elements, the smaller number first,
/// Z_a Z_b / |r_a - r_b| of all pairs of such atoms, bonded or not, falling.
Descriptor bag_of_bonds(const MoleculeView& molecule);

/// Descriptors as rows of one length, that of the longest lists among some molecules.
class DescriptorRows {
 public:
  DescriptorRows() = default;
  explicit DescriptorRows(std::vector<Descriptor> known);
  /// Sums of |x - y| over all numbers, of a molecule and each of the known ones.
  std::vector<double> distances(const Descriptor& molecule) const;
  const std::vector<Descriptor>& known() const { return known_; }

 private:
  /// Numbers in their places; what has none is added up in `beyond`.
  std::vector<double> row_of(const Descriptor& molecule, double& beyond) const;

  std::vector<Descriptor> known_;
  std::map<std::array<std::int32_t, 2>, std::array<std::size_t, 2>> place_;  ///< of a list: first number, how many
  std::size_t width_ = 0;
  std::vector<double> rows_;  ///< known x width
};

}  // namespace cambium::graph
