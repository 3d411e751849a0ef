#pragma once
#include <string>
#include <vector>

#include "plugins/graph/molecules/count_fit.hpp"
#include "plugins/graph/molecules/descriptors.hpp"

namespace cambium::graph {

/// Kernel ridge regression with exp(-|x - y|_1 / width) of descriptors, on what counts of atoms leave over. Width and
/// ridge are those of least mean absolute error when each training molecule is left out in turn (closed form).
class MoleculeKernel {
 public:
  enum class Descriptors { coulomb, bag_of_bonds };
  explicit MoleculeKernel(Descriptors descriptors) : descriptors_(descriptors) {}
  static constexpr std::int64_t most = 4000;  ///< molecules: one symmetric eigenproblem of that order for each width
  /// InputError for more molecules than that.
  void fit(std::span<const MoleculeView> molecules);
  double operator()(const MoleculeView& molecule) const;
  /// The same of a molecule that the kernel was not fitted to; for one of the training, what the others say of it (with
  /// width and ridge, and the fit to atoms, of all).
  double without(const MoleculeView& molecule) const;

  double width() const { return width_; }
  double ridge() const { return ridge_; }
  double left_out_error() const { return error_; }  ///< mean absolute, unit of the energies

  /// Fit as JSON text, and back.
  std::string text() const;
  static MoleculeKernel from(const std::string& text);

 private:
  Descriptor describe(const MoleculeView& molecule) const;
  void try_width(double width, const std::vector<double>& distances, const std::vector<double>& rest);

  Descriptors descriptors_;
  CountFit atoms_;
  DescriptorRows known_;
  std::vector<double> weight_, off_;  ///< of each known molecule; energy less that of the fit without it
  double width_ = 0.0, ridge_ = 0.0, error_ = 0.0;
};

}  // namespace cambium::graph
