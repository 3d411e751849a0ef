#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace cambium::io::cf {

/// Spellings of units, by UDUNITS-2 if the build has it and its table of units exists; else by a list of the usual
/// ones.

/// Seconds of a unit of time ("days", "d", "hr", "microseconds", "3 hours"); none for other units and unknown words.
std::optional<double> seconds_of(const std::string& unit);
/// Degrees of a unit of plane angles ("degrees", "radian", "rad"); none for others.
std::optional<double> degrees_of(const std::string& unit);
/// Without blanks around it: how words of attributes are compared.
std::string in_small_letters(std::string_view text);
/// True if two units are the same one, spelled alike or not ("degC", "Celsius").
bool is_same_unit(const std::string& a, const std::string& b);
/// True when UDUNITS-2 answers.
bool knows_all_units();

}  // namespace cambium::io::cf
