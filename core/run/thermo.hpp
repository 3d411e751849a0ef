#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/plugin/physics.hpp"

namespace cambium {

/// Lines of fixed width with the printed observables of a physics.
class ThermoLines {
 public:
  ThermoLines(std::vector<Observable> observables, std::string time_unit);
  std::string header() const;
  std::string units() const;
  std::string row(std::int64_t step, double time, std::span<const double> values) const;

 private:
  std::vector<Observable> observables_;
  std::string time_unit_;
};

}  // namespace cambium
