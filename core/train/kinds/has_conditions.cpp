#include "core/train/kinds/has_conditions.hpp"

#include <algorithm>

namespace cambium::train {

std::vector<Condition> conditions_of(const Dataset& data) {
  const auto* known = dynamic_cast<const HasConditions*>(&data);
  return known ? known->conditions() : std::vector<Condition>{};
}

std::vector<Condition> of_both(const std::vector<Condition>& one, const std::vector<Condition>& other) {
  std::vector<Condition> out;
  for (const auto& a : one)
    for (const auto& b : other)
      if (a.name == b.name) out.push_back({a.name, std::min(a.lowest, b.lowest), std::max(a.highest, b.highest)});
  return out;
}

}  // namespace cambium::train
