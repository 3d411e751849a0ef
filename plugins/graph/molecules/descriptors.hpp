#pragma once
#include <array>
#include <map>
#include <vector>

#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph {

/// The Coulomb matrix of a molecule (Rupp et al., Phys. Rev. Lett. 108, 058301 (2012)): 0.5 Z^2.4 on the diagonal, Z_a
/// Z_b / |r_a - r_b| off the diagonal (r in Å), rows and columns sorted by decreasing norm of the rows, zero-padded to
/// `size` atoms. The lower triangle, row by row.
std::vector<double> coulomb_matrix(const MoleculeView& molecule, std::int64_t size);

/// Values that describe a molecule, in lists by name; shorter lists are padded with zeros.
using Descriptor = std::map<std::array<std::int32_t, 2>, std::vector<double>>;

/// The Coulomb matrix as a single list.
Descriptor coulomb_descriptor(const MoleculeView& molecule);

/// Bags of bonds (Hansen et al., J. Phys. Chem. Lett. 6, 2326 (2015)): for each pair of elements, the smaller number
/// first, Z_a Z_b / |r_a - r_b| of all pairs of such atoms, bonded or not, in decreasing order.
Descriptor bag_of_bonds(const MoleculeView& molecule);

/// Descriptors as rows of equal length, defined by the longest lists of some molecules.
class DescriptorRows {
 public:
  DescriptorRows() = default;
  explicit DescriptorRows(std::vector<Descriptor> known);
  /// L1 distances, sums of |x - y| over all values, between a molecule and each of the known ones.
  std::vector<double> distances(const Descriptor& molecule) const;
  const std::vector<Descriptor>& known() const { return known_; }

 private:
  /// Values at their positions in the row; the sum of those without a position is added to `beyond`.
  std::vector<double> row_of(const Descriptor& molecule, double& beyond) const;

  std::vector<Descriptor> known_;
  std::map<std::array<std::int32_t, 2>, std::array<std::size_t, 2>> place_;  ///< of a list: first value, length
  std::size_t width_ = 0;
  std::vector<double> rows_;  ///< known x width
};

}  // namespace cambium::graph
