#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Parameter of the system behind the samples that none of their fields holds (a Rayleigh number): its range over them.
struct Condition {
  std::string name;
  double lowest = 0.0, highest = 0.0;
};

/// Interface of a data set whose samples come from systems with known parameters, in addition to Dataset; and of a
/// network that keeps those of its training data (NetworkTraits::conditions).
class HasConditions {
 public:
  virtual ~HasConditions() = default;
  /// After open(), or once a network is fitted or restored. A parameter that some of the samples' sources do not state
  /// is left out.
  virtual std::vector<Condition> conditions() const = 0;
};

/// Conditions of a data set; none if it does not know them.
std::vector<Condition> conditions_of(const Dataset& data);
/// Conditions of two sets together: parameters known for both, over both ranges.
std::vector<Condition> of_both(const std::vector<Condition>& one, const std::vector<Condition>& other);

}  // namespace cambium::train
