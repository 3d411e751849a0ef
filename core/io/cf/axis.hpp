#pragma once
#include <string>
#include <vector>

#include "core/io/cf/variable.hpp"

namespace cambium::io::cf {

/// Quantity of a coordinate. Latitudes and longitudes may be those of a rotated grid, which area weights take as
/// well.
enum class Role { none, time, latitude, longitude, height };

/// By units (degrees_north, "days since"), standard_name, axis, positive and, last, the name (CF 4).
Role role_of(const Variable& variable);

/// An axis of a field other than time.
struct Axis {
  std::string name, unit, standard_name;
  Role role = Role::none;
  std::vector<double> values;  ///< 0, 1, 2, ... if the file has no coordinate; latitudes and longitudes in degrees
  bool coordinate = false;     ///< whether the file has one
};

/// The values of a coordinate; radians are converted to degrees. InputError if one is missing.
Axis axis_of(const Variable& variable, const std::string& file);

}  // namespace cambium::io::cf
