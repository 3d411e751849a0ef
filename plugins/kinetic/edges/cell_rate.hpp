#pragma once
#include <map>
#include <string>
#include <vector>

#include "plugins/kinetic/deck/formula.hpp"
#include "plugins/kinetic/fields/conf_grid.hpp"

namespace cambium::kinetic {

/// A rate as a formula of position, at the centre of each cell of configuration space, and of known quantities of
/// species in the cell.
class CellRate {
 public:
  CellRate() = default;
  /// Formula of x, y, z and `names`, in the deck's key `key`. InputError, beginning with `what`, for one that cannot be
  /// read.
  CellRate(const std::string& text, const std::string& key, std::string what, const ConfGrid& conf,
           const std::vector<std::string>& names, const std::map<std::string, double>& parameters);

  /// Rates in this rank's cells, from known[name][cell]. NumericalError if one is negative or not finite.
  std::vector<double> operator()(const std::vector<std::vector<double>>& known) const;

 private:
  std::string key_, what_;
  ConfGrid conf_;
  std::vector<std::size_t> used_;  ///< of `names`: those that are not parameters of the deck
  Formula formula_;
};

}  // namespace cambium::kinetic
