#pragma once
#include <array>

#include "plugins/submatrix/dftb/skf_file.hpp"

namespace cambium::submatrix {

/// H and S of one pair of elements as functions of the distance: polynomials through eight rows of a Slater-Koster
/// file, and after its last row a fifth-order polynomial that is zero, with two derivatives, one bohr further.
class RadialTable {
 public:
  static constexpr int columns = 2 * SkfFile::integrals;
  using Row = std::array<double, columns>;
  struct Value {
    Row value{}, slope{};  ///< hartree (H), 1 (S), and per bohr
  };

  RadialTable() = default;
  explicit RadialTable(const SkfFile& file);
  double cutoff() const { return cutoff_; }  ///< bohr
  Value at(double r) const;

 private:
  static constexpr int points = 8;
  /// Value and two derivatives of the polynomial through rows first .. first + 7, at `t` rows from the first.
  std::array<Row, 3> polynomial(int first, double t) const;

  std::vector<Row> rows_;
  double spacing_ = 1.0, cutoff_ = 0.0;
};

}  // namespace cambium::submatrix
