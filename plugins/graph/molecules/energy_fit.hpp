#pragma once
#include <string>
#include <variant>
#include <vector>

#include "core/base/citation.hpp"
#include "plugins/graph/molecules/molecule_kernel.hpp"

namespace cambium::graph {

/// An energy without a network: linear in counts, or by a kernel. What message_passing corrects, and what it is judged
/// beside.
class EnergyFit {
 public:
  enum class Kind { atoms, bonds, coulomb, bag_of_bonds };
  /// InputError as of the fit itself; `constant` is that of CountFit.
  void fit(std::span<const MoleculeView> molecules, Kind kind, bool constant = false);
  double operator()(const MoleculeView& molecule) const;
  /// For a molecule that a kernel was fitted to what it says without it: a kernel that has seen an energy leaves
  /// nothing over that could be learned.
  double without(const MoleculeView& molecule) const;
  Kind kind() const { return kind_; }
  /// Energies change smoothly with positions, at least by not changing at all.
  bool smooth() const { return std::holds_alternative<CountFit>(fit_); }
  /// How it was fitted, in a line.
  std::string note(const std::string& unit) const;
  std::vector<Citation> citations() const;

  std::string text() const;
  static EnergyFit from(const std::string& text);

 private:
  std::variant<CountFit, MoleculeKernel> fit_;
  Kind kind_ = Kind::atoms;
};

/// As decks name it.
std::string name_of(EnergyFit::Kind kind);

}  // namespace cambium::graph
