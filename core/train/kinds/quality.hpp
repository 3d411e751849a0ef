#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// For each of the metrics: false where the network says nothing.
std::vector<bool> higher_is_better(Network& network);

/// The validation figure by which a target is judged.
struct Quality {
  std::size_t number = 0;  ///< among metrics()
  std::string name;
  bool higher = false;  ///< is better
  bool better(double value, double than) const { return higher ? value > than : value < than; }
  /// Never by what is not a number.
  bool reached(double value, double target) const { return value == target || better(value, target); }
};

/// The figure of this name, the first where it is empty. InputError where the network, of this type, has none such.
Quality quality_of(Network& network, const std::string& type, const std::string& name);

}  // namespace cambium::train
