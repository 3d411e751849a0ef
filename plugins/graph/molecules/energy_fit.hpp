#pragma once
#include <string>
#include <variant>
#include <vector>

#include "core/base/citation.hpp"
#include "plugins/graph/molecules/molecule_kernel.hpp"

namespace cambium::graph {

/// An energy model without a network: linear in counts, or a kernel. message_passing learns the difference from it, and
/// uses it as a baseline.
class EnergyFit {
 public:
  enum class Kind { atoms, bonds, coulomb, bag_of_bonds };
  /// Throws the InputErrors of the selected fit without doing it: for bonds that are not there, for kernels of too many
  /// molecules or of periodic cells.
  static void require(std::span<const MoleculeView> molecules, Kind kind);
  /// Throws the InputErrors of the selected fit; `constant` as in CountFit.
  void fit(std::span<const MoleculeView> molecules, Kind kind, bool constant = false);
  double operator()(const MoleculeView& molecule) const;
  /// For a molecule in a kernel's training set, the leave-one-out prediction: with its own energy in the fit, there
  /// would be no residual to learn.
  double without(const MoleculeView& molecule) const;
  Kind kind() const { return kind_; }
  /// True if energies are smooth (possibly constant) functions of positions.
  bool smooth() const { return std::holds_alternative<CountFit>(fit_); }
  /// One-line description of the fit.
  std::string note(const std::string& unit) const;
  std::vector<Citation> citations() const;

  std::string text() const;
  static EnergyFit from(const std::string& text);

 private:
  std::variant<CountFit, MoleculeKernel> fit_;
  Kind kind_ = Kind::atoms;
};

/// Name used in decks.
std::string name_of(EnergyFit::Kind kind);

}  // namespace cambium::graph
