#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// One flag per metric; false if the network does not specify it.
std::vector<bool> higher_is_better(Network& network);

/// Validation metric used as the target.
struct Quality {
  std::size_t number = 0;  ///< index among metrics()
  std::string name;
  bool higher = false;  ///< is better
  bool better(double value, double than) const { return higher ? value > than : value < than; }
  /// Never true for NaN.
  bool reached(double value, double target) const { return value == target || better(value, target); }
};

/// The metric of this name, or the first if empty. InputError if the network, of this type, has no such metric.
Quality quality_of(Network& network, const std::string& type, const std::string& name);

}  // namespace cambium::train
