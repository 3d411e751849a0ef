#pragma once
#include <string>

namespace cambium {

/// Seconds of a duration in the notation of people and batch systems: "HH:MM:SS", "MM:SS", seconds as a number; with
/// days, "D-HH", "D-HH:MM", "D-HH:MM:SS" (Slurm's forms); or amounts with units d, h, m (min), s: "12h", "1d 6h".
/// Throws InputError for anything else, and for zero.
double parse_wall_time(const std::string& text);

}  // namespace cambium
