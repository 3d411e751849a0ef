#pragma once
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// Integrals of a species over the whole domain, of slot 0. All are collective.
class Totals {
 public:
  explicit Totals(const Species& species) : species_(species) {}
  double particles() const;
  double momentum(int d) const;
  double kinetic_energy() const;
  double square_integral() const;  ///< of f^2
  double entropy() const;          ///< minus the integral of f ln f where f > 0
  double temperature() const;      ///< per degree of freedom, of what is not the domain's mean drift
  double debye_length(double epsilon0) const;

 private:
  double integral(int component) const;  ///< of a moment
  const Species& species_;
};

}  // namespace cambium::kinetic
