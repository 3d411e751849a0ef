#pragma once
#include <array>
#include <map>
#include <string>

#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph {

/// An energy that is linear in how many atoms of each element, and bonds of each kind (two elements and an order), a
/// molecule has: least squares, of least norm where counts depend on each other. Without a constant it is extensive;
/// with one it is nearer to molecules of about one size.
class CountFit {
 public:
  enum class Counted { atoms, bonds };  ///< bonds: of atoms and bonds
  /// InputError for bonds where the molecules have none.
  void fit(std::span<const MoleculeView> molecules, Counted counted, bool constant = false);
  /// In the unit of the energies. InputError for an element that fit() did not see; kinds of bonds that it did not see
  /// count nothing.
  double operator()(const MoleculeView& molecule) const;

  /// The coefficients as JSON text, and back.
  std::string text() const;
  static CountFit from(const std::string& text);

 private:
  /// For an atom (its number, 0, 0), of a bond (smaller and larger atomic number, order); zeros: the constant.
  using Kind = std::array<std::int32_t, 3>;
  std::map<Kind, double> counts(const MoleculeView& molecule) const;

  Counted counted_ = Counted::atoms;
  bool constant_ = false;
  std::map<Kind, double> energy_;
};

}  // namespace cambium::graph
