#pragma once
#include <string>

namespace cambium {

/// Seconds of a time as people and batch systems write it: "HH:MM:SS", "MM:SS", seconds as a number; with days before
/// it, "D-HH", "D-HH:MM", "D-HH:MM:SS" (Slurm's forms); or amounts with units d, h, m (min), s: "12h", "1d 6h".
/// Throws InputError for anything else, and for no time at all.
double parse_wall_time(const std::string& text);

}  // namespace cambium
