#pragma once
#include <variant>

#include "plugins/submatrix/dftb/skf_file.hpp"

namespace cambium::submatrix {

/// Repulsive pair energy: by splines or by a polynomial (hartree, bohr).
class Repulsion {
 public:
  struct Value {
    double energy = 0.0, slope = 0.0;
  };
  Repulsion() = default;
  explicit Repulsion(SplineRepulsion spline) : form_(std::move(spline)) {}
  explicit Repulsion(PolynomialRepulsion polynomial) : form_(polynomial) {}

  double cutoff() const;
  Value at(double r) const;

 private:
  std::variant<std::monostate, SplineRepulsion, PolynomialRepulsion> form_;
};

}  // namespace cambium::submatrix
