#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace cambium::io {

/// LAMMPS' units of a style, in Å, Å/ps, g/mol, elementary charges and eV/Å.
struct LammpsUnits {
  double length = 1.0, velocity = 1.0, mass = 1.0, charge = 1.0, force = 1.0;
};

/// For real, metal, si, cgs, electron, micro and nano; none for any other word. Velocities of electron are Bohr/fs, as
/// LAMMPS computes (its manual states Bohr per 1.03275 fs).
std::optional<LammpsUnits> lammps_units(std::string_view style);

/// The style named in the first line of a data file, as by write_data: "..., units = real". Empty if it names none of
/// LAMMPS' styles; "lj" is one.
std::string lammps_style_of_title(std::string_view title);

/// A sentence where velocities of a file without units, read in Å/ps, make a temperature (K) that those of style real,
/// Å/fs, would make sensible; else empty.
std::string doubt_of_lammps_units(double kelvin);

}  // namespace cambium::io
