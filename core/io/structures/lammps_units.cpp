#include "core/io/structures/lammps_units.hpp"

#include <fmt/format.h>

#include <cctype>

#include "core/base/constants.hpp"

namespace cambium::io {

namespace {

struct StyleOfUnits {
  std::string_view name;
  LammpsUnits units;
};

constexpr double newton = 1e-10 / constants::elementary_charge;  // eV/Å

constexpr StyleOfUnits styles_of_units[] = {
    {"metal", {1.0, 1.0, 1.0}},
    {"real", {1.0, 1000.0, 1.0, 1.0, 4184.0 / (constants::avogadro * constants::elementary_charge)}},
    {"si", {1e10, 1e-2, 1e3 * constants::avogadro, 1.0 / constants::elementary_charge, newton}},
    {"cgs", {1e8, 1e-4, constants::avogadro, 1.0 / (2.99792458e9 * constants::elementary_charge), 1e-5 * newton}},
    {"electron",
     {constants::angstrom_per_bohr, 1000.0 * constants::angstrom_per_bohr, 1.0, 1.0,
      constants::ev_per_hartree / constants::angstrom_per_bohr}},
    {"micro", {1e4, 1e-2, 1e-12 * constants::avogadro, 1e-12 / constants::elementary_charge, 1e-9 * newton}},
    {"nano", {10.0, 1e-2, 1e-18 * constants::avogadro, 1.0, 1e-12 * newton}}};

bool letter_of_title(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

}  // namespace

std::optional<LammpsUnits> lammps_units(std::string_view style) {
  for (const StyleOfUnits& s : styles_of_units)
    if (s.name == style) return s.units;
  return {};
}

std::string lammps_style_of_title(std::string_view title) {
  constexpr std::string_view key = "units";
  for (std::size_t at = 0; (at = title.find(key, at)) != std::string_view::npos; at += key.size()) {
    if (at > 0 && letter_of_title(title[at - 1])) continue;
    std::size_t first = behind_blanks(title, at + key.size());
    if (first < title.size() && (title[first] == '=' || title[first] == ':')) first = behind_blanks(title, first + 1);
    std::size_t last = first;
    while (last < title.size() && letter_of_title(title[last])) ++last;
    std::string word;
    for (std::size_t k = first; k < last; ++k)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(title[k])));
    if (word == "lj" || lammps_units(word)) return word;
  }
  return {};
}

std::string doubt_of_lammps_units(double kelvin) {
  if (!(kelvin > 1e-6 && kelvin < 0.02)) return {};
  return fmt::format(
      "the velocities make {:.3g} K in Å/ps, and {:.3g} K in Å/fs: where the file is in LAMMPS' units real, set units: "
      "real",
      kelvin, 1e6 * kelvin);
}

}  // namespace cambium::io
