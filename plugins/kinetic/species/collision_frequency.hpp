#pragma once
#include <map>
#include <string>
#include <vector>

#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"

namespace cambium::kinetic {

/// A collision frequency as a formula of position and of densities and temperatures, in each cell of configuration
/// space.
class CollisionFrequency {
 public:
  CollisionFrequency() = default;
  /// Formula of x, y, z and of `names`: known quantities of species in a cell. Parameters of the deck take precedence
  /// over names. InputError, on all ranks and beginning with `what`, if a formula of position only is negative.
  CollisionFrequency(const std::string& text, const std::string& what, const ConfGrid& conf,
                     std::vector<std::string> names, const std::map<std::string, double>& parameters);

  /// True if it depends on what is known of species, and so on time.
  bool varies() const { return varies_; }
  /// Frequencies in this rank's cells, from known[name][cell]. NumericalError if one is negative or not finite.
  std::vector<double> operator()(const std::vector<std::vector<double>>& known) const;
  /// Frequencies in this rank's cells, if it does not vary.
  const std::vector<double>& constant() const { return constant_; }

 private:
  void place_of(const ConfGrid& grid, int cell, std::vector<double>& at) const;

  std::string what_;
  ConfGrid conf_;
  std::vector<std::string> names_;
  Formula formula_;
  bool varies_ = false;
  std::vector<double> constant_;
};

}  // namespace cambium::kinetic
