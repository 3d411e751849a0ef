#pragma once
#include <array>
#include <map>
#include <string>

#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph {

/// An energy that is linear in the numbers of atoms of each element and of bonds of each kind (two elements and an
/// order): least squares, with minimum norm if counts are dependent. Without a constant it is extensive; with one it
/// fits molecules of similar size better.
class CountFit {
 public:
  enum class Counted { atoms, bonds };  ///< bonds: atoms and bonds
  /// InputError if no molecule has bonds.
  static void require_bonds(std::span<const MoleculeView> molecules);
  /// InputError for bonds if the molecules have none.
  void fit(std::span<const MoleculeView> molecules, Counted counted, bool constant = false);
  /// In the unit of the energies. InputError for an element not present in fit(); new kinds of bonds are ignored.
  double operator()(const MoleculeView& molecule) const;

  /// The coefficients as JSON text, and from it.
  std::string text() const;
  static CountFit from(const std::string& text);

 private:
  /// An atom (its number, 0, 0), or a bond (smaller and larger atomic number, order); zeros: the constant.
  using Kind = std::array<std::int32_t, 3>;
  std::map<Kind, double> counts(const MoleculeView& molecule) const;

  Counted counted_ = Counted::atoms;
  bool constant_ = false;
  std::map<Kind, double> energy_;
};

}  // namespace cambium::graph
