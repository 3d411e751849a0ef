#include "core/io/cf/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/cf/decoding.hpp"
#include "core/io/cf/time_unit.hpp"
#include "core/io/cf/units.hpp"

namespace cambium::io::cf {
namespace {

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 6> north{"degrees_north", "degree_north", "degree_n",
                                                "degrees_n",     "degreen",      "degreesn"};
constexpr std::array<std::string_view, 6> east{"degrees_east", "degree_east", "degree_e",
                                               "degrees_e",    "degreee",     "degreese"};

Role by_units(const std::string& unit) {
  if (is_one_of(unit, north)) return Role::latitude;
  if (is_one_of(unit, east)) return Role::longitude;
  return is_unit_of_dates(unit) ? Role::time : Role::none;
}

Role by_standard_name(const std::string& name) {
  if (name == "latitude" || name == "grid_latitude") return Role::latitude;
  if (name == "longitude" || name == "grid_longitude") return Role::longitude;
  if (name == "time") return Role::time;
  for (const char* part : {"height", "depth", "altitude", "air_pressure", "_sigma_", "model_level", "ocean_s_"})
    if (name.find(part) != std::string::npos) return Role::height;
  return Role::none;
}

/// True for an axis marked X or Y, or known by name only, that may hold angles: degrees, or no unit.
bool may_be_angle(const std::string& unit) { return unit.empty() || unit == "1" || degrees_of(unit).has_value(); }

Role by_name(const std::string& name, const std::string& unit) {
  static constexpr std::array<std::string_view, 6> latitudes{"nlat", "rlat", "nav_lat", "glat", "gridlat", "y_lat"};
  static constexpr std::array<std::string_view, 6> longitudes{"nlon", "rlon", "nav_lon", "glon", "gridlon", "x_lon"};
  static constexpr std::array<std::string_view, 12> heights{
      "height", "heights", "depth", "level", "lev", "levels", "plev", "z", "altitude", "pressure", "deptht", "zlev"};
  if (may_be_angle(unit)) {
    if (name.starts_with("lat") || is_one_of(name, latitudes)) return Role::latitude;
    if (name.starts_with("lon") || is_one_of(name, longitudes)) return Role::longitude;
  }
  if (name == "time" || name == "t" || name == "times") return Role::time;
  return is_one_of(name, heights) ? Role::height : Role::none;
}

}  // namespace

Role role_of(const Variable& variable) {
  const std::string unit = in_small_letters(variable.text("units")),
                    standard = in_small_letters(variable.text("standard_name")),
                    axis = in_small_letters(variable.text("axis")), name = in_small_letters(variable.name());
  if (const Role role = by_units(unit); role != Role::none) return role;
  if (const Role role = by_standard_name(standard); role != Role::none) return role;
  if (standard == "projection_x_coordinate" || standard == "projection_y_coordinate") return Role::none;
  if (axis == "t") return Role::time;
  if (axis == "z") return Role::height;
  if (const auto positive = in_small_letters(variable.text("positive")); positive == "up" || positive == "down")
    return Role::height;
  if (!unit.empty() && unit != "1" && may_be_angle(unit)) {
    if (axis == "y" || name == "y") return Role::latitude;
    if (axis == "x" || name == "x") return Role::longitude;
  }
  return by_name(name, unit);
}

Axis axis_of(const Variable& variable, const std::string& file) {
  Axis out{variable.name(),   variable.text("units"),  variable.text("standard_name"),
           role_of(variable), decoded(variable, file), true};
  for (std::size_t k = 0; k < out.values.size(); ++k)
    if (!std::isfinite(out.values[k]))
      throw InputError(fmt::format("the coordinate '{}' of '{}' is missing or not finite at index {}; fix the file",
                                   variable.path(), file, k));
  if (out.role != Role::latitude && out.role != Role::longitude) return out;
  const auto degrees = degrees_of(in_small_letters(out.unit));
  if (degrees && *degrees != 1.0)
    for (double& x : out.values) x *= *degrees;
  if (degrees || out.unit.empty() || out.unit == "1")
    out.unit = out.role == Role::latitude ? "degrees_north" : "degrees_east";
  return out;
}

}  // namespace cambium::io::cf
