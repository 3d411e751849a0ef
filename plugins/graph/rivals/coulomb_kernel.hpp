#pragma once
#include <vector>

#include "plugins/graph/rivals/count_fit.hpp"

namespace cambium::graph {

/// The Coulomb matrix of a molecule (Rupp et al., Phys. Rev. Lett. 108, 058301 (2012)): 0.5 Z^2.4 on the diagonal,
/// Z_a Z_b / |r_a - r_b| beside it (r in Å), rows and columns sorted by falling norm of the rows, padded by zeros to
/// `size` atoms. The lower triangle, row by row.
std::vector<double> coulomb_matrix(const MoleculeView& molecule, std::int64_t size);

/// Kernel ridge regression with exp(-|x - y|_1 / width) of Coulomb matrices, on what counts of atoms leave over. Width
/// and ridge are those of least mean absolute error when each training molecule is left out in turn (closed form).
class CoulombKernel {
 public:
  static constexpr std::int64_t most = 4000;  ///< molecules: one symmetric eigenproblem of that order for each width
  /// InputError for more molecules than that.
  void fit(std::span<const MoleculeView> molecules);
  double operator()(const MoleculeView& molecule) const;

  double width() const { return width_; }
  double ridge() const { return ridge_; }
  double left_out_error() const { return error_; }  ///< mean absolute, unit of the energies

 private:
  void try_width(double width, const std::vector<double>& distances, const std::vector<double>& rest);

  CountFit atoms_;
  std::int64_t size_ = 0;
  std::vector<std::vector<double>> known_;
  std::vector<double> weight_;
  double width_ = 0.0, ridge_ = 0.0, error_ = 0.0;
};

}  // namespace cambium::graph
