#pragma once
#include <map>
#include <string>
#include <vector>

#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"

namespace cambium::kinetic {

/// A collision frequency as a formula of the place and of densities and temperatures, in each cell of configuration
/// space.
class CollisionFrequency {
 public:
  CollisionFrequency() = default;
  /// Formula of x, y, z and of `names`: what is known of species in a cell. Names that the deck's parameters have are
  /// theirs. InputError, on all ranks and beginning with `what`, where a formula of the place alone is negative.
  CollisionFrequency(const std::string& text, const std::string& what, const ConfGrid& conf,
                     std::vector<std::string> names, const std::map<std::string, double>& parameters);

  /// True if it depends on what is known of species, and so on time.
  bool varies() const { return varies_; }
  /// Of this rank's cells, known[name][cell]. NumericalError where one is negative or not finite.
  std::vector<double> operator()(const std::vector<std::vector<double>>& known) const;
  /// Of this rank's cells, where it does not vary.
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
