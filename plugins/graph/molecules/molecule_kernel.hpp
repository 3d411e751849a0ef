#pragma once
#include <string>
#include <vector>

#include "plugins/graph/molecules/count_fit.hpp"
#include "plugins/graph/molecules/descriptors.hpp"

namespace cambium::graph {

/// Kernel ridge regression with exp(-|x - y|_1 / width) of descriptors, on the residual of a fit to atom counts. Width
/// and ridge minimise the mean absolute leave-one-out error (closed form).
class MoleculeKernel {
 public:
  enum class Descriptors { coulomb, bag_of_bonds };
  explicit MoleculeKernel(Descriptors descriptors) : descriptors_(descriptors) {}
  static constexpr std::int64_t most = 4000;  ///< molecules: one symmetric eigenproblem of this order for each width
  /// InputError for more than `most` molecules, and for periodic cells.
  static void require(std::span<const MoleculeView> molecules);
  /// The same InputErrors.
  void fit(std::span<const MoleculeView> molecules);
  double operator()(const MoleculeView& molecule) const;
  /// The same for a molecule that is not in the training set; for one that is, the leave-one-out prediction (with
  /// width, ridge and atom fit of all).
  double without(const MoleculeView& molecule) const;

  double width() const { return width_; }
  double ridge() const { return ridge_; }
  double left_out_error() const { return error_; }  ///< mean absolute, in the unit of the energies

  /// The fit as JSON text, and from it.
  std::string text() const;
  static MoleculeKernel from(const std::string& text);

 private:
  Descriptor describe(const MoleculeView& molecule) const;
  void try_width(double width, const std::vector<double>& distances, const std::vector<double>& rest);

  Descriptors descriptors_;
  CountFit atoms_;
  DescriptorRows known_;
  std::vector<double> weight_, off_;  ///< of each training molecule; energy minus that of the fit without it
  double width_ = 0.0, ridge_ = 0.0, error_ = 0.0;
};

}  // namespace cambium::graph
