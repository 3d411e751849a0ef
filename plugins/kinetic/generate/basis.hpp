#pragma once
#include <string>
#include <vector>

namespace kinetic_generate {

using Exponents = std::vector<int>;  ///< degree in each dimension

/// The modes of one phase-space cell: products of normalised Legendre polynomials, one factor per dimension.
///
/// Modes are grouped by their velocity exponents. Within a group stand its configuration-space exponents in one fixed
/// order, and every group holds the first few of that order: multiplying by a function of x is then the leading block
/// of one matrix, whatever the group.
struct Basis {
  int cdim = 1, vdim = 1, order = 2;
  bool tensor = false;
  std::vector<Exponents> conf;    ///< all configuration-space modes
  std::vector<Exponents> group;   ///< velocity exponents of each group
  std::vector<int> first, count;  ///< of each group's modes

  /// Families: serendipity (superlinear degree <= order; order 1 is the hybrid one, quadratic in velocity) and tensor.
  Basis(int cdim, int vdim, int order, bool tensor);

  int modes() const { return first.back() + count.back(); }
  int find_group(const Exponents& velocity) const;  ///< -1 when absent
  int group_of(int mode) const;
  /// All exponents of a mode: configuration space, then velocity space.
  Exponents exponents(int mode) const;
  int find(const Exponents& all) const;  ///< mode, or -1
  /// Modes that are constant along a dimension; in this order they are the modes of the faces across it.
  std::vector<int> face(int dimension) const;
  int highest(int dimension) const;
  std::string name() const;  ///< 1x2v_p2, 1x1v_p2_tensor
};

}  // namespace kinetic_generate
