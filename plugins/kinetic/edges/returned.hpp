#pragma once
#include <string>
#include <vector>

#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// Parameters of an entry of the key `walls`.
class Returned {
 public:
  /// For a wall across dimension d of the species' grid; `all` names the species of the deck. InputError for values
  /// that no wall has.
  Returned(const WallEmissionParams& params, const Species& species, const PhaseGrid& grid, int d,
           const std::vector<std::string>& all);

  double reflection() const { return reflection_; }
  double speed() const { return speed_; }  ///< sqrt(T/m) of what is emitted
  /// Emitted particles per arriving one of the s-th species.
  double yield(std::size_t s) const { return yield_[s]; }
  /// Emitted particles per time and area, independent of arriving ones. NumericalError for a negative value.
  double flux(double time) const;

 private:
  std::string name_, wall_;
  double reflection_ = 0.0, speed_ = 1.0;
  std::vector<double> yield_;
  Formula flux_;
};

}  // namespace cambium::kinetic
