#pragma once
#include <vector>

#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// Integrals of a species over the entire domain, of slot 0 at construction. Collective; so are the integrals of f.
class Totals {
 public:
  explicit Totals(const Species& species);
  double particles() const;
  double momentum(int d) const;
  double kinetic_energy() const;
  double square_integral() const;  ///< of f^2
  double entropy() const;          ///< minus the integral of f ln f where f > 0
  double temperature() const;      ///< per degree of freedom, of what is not the domain's mean drift
  /// The smallest Debye length of a cell, by its mean density and its temperature about its own drift; cells with less
  /// than a thousandth of the mean density are left out.
  double debye_length(double epsilon0) const;

 private:
  const Species& species_;
  std::vector<double> integrals_;  ///< of each moment
};

}  // namespace cambium::kinetic
