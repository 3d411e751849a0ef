#include "core/io/structures/lammps_atom_styles.hpp"

#include <algorithm>

#include "core/io/text_lines.hpp"

namespace cambium::io {

namespace {

/// LAMMPS' manual, page read_data.
constexpr LammpsAtomStyle atom_styles[] = {{"atomic", "id type x y z"},
                                           {"charge", "id type q x y z"},
                                           {"molecular", "id mol type x y z"},
                                           {"full", "id mol type q x y z"},
                                           {"amoeba", "id mol type q x y z"},
                                           {"angle", "id mol type x y z"},
                                           {"body", "id type bodyflag mass x y z"},
                                           {"bond", "id mol type x y z"},
                                           {"bpm/sphere", "id mol type diameter density x y z"},
                                           {"dielectric", "id type q x y z mux muy muz area ed em epsilon curvature"},
                                           {"dipole", "id type q x y z mux muy muz"},
                                           {"dpd", "id type theta x y z"},
                                           {"edpd", "id type edpd_temp edpd_cv x y z"},
                                           {"electron", "id type q espin eradius x y z"},
                                           {"ellipsoid", "id type ellipsoidflag density x y z"},
                                           {"hybrid", "id type x y z ..."},
                                           {"line", "id mol type lineflag density x y z"},
                                           {"mdpd", "id type rho x y z"},
                                           {"peri", "id type volume density x y z"},
                                           {"smd", "id type molecule volume mass kradius cradius x0 y0 z0 x y z"},
                                           {"sph", "id type rho esph cv x y z"},
                                           {"sphere", "id type diameter density x y z"},
                                           {"spin", "id type x y z spx spy spz sp"},
                                           {"tdpd", "id type x y z ..."},
                                           {"template", "id type mol template-index template-atom x y z"},
                                           {"tri", "id mol type triangleflag density x y z"},
                                           {"wavepacket", "id type q espin eradius etag cs_re cs_im x y z"}};

constexpr int image_flags = 3;

int place_of_column(std::string_view columns, std::string_view name) {
  const auto words = split(columns);
  return static_cast<int>(std::find(words.begin(), words.end(), name) - words.begin());
}

const LammpsAtomStyle* style_named(std::string_view name) {
  const auto* const found = std::find_if(std::begin(atom_styles), std::end(atom_styles),
                                         [&](const LammpsAtomStyle& s) { return s.name == name; });
  return found == std::end(atom_styles) ? nullptr : found;
}

}  // namespace

int LammpsAtomStyle::type() const { return place_of_column(columns, "type"); }
int LammpsAtomStyle::position() const { return place_of_column(columns, "x"); }
int LammpsAtomStyle::charge() const {
  const auto all = split(columns);
  const auto found = std::find(all.begin(), all.end(), "q");
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}
int LammpsAtomStyle::words() const { return static_cast<int>(split(columns).size()) - (open() ? 1 : 0); }
bool LammpsAtomStyle::fits(int n) const { return open() ? n >= words() : n == words() || n == words() + image_flags; }

std::vector<std::string> LammpsAtomStyle::others() const {
  std::vector<std::string> out;
  for (const auto word : split(columns))
    if (word != "id" && word != "type" && word != "x" && word != "y" && word != "z")
      out.emplace_back(word == "q"     ? "charges"
                       : word == "mol" ? "molecule ids"
                       : word == "..." ? "what follows z"
                                       : word);
  return out;
}

const LammpsAtomStyle* lammps_atom_style(std::string_view name) {
  if (const auto* found = style_named(name)) return found;
  for (const std::string_view suffix : {"/kk", "/kk/device", "/kk/host", "/omp", "/gpu", "/intel", "/opt"})
    if (name.ends_with(suffix)) return style_named(name.substr(0, name.size() - suffix.size()));
  return nullptr;
}

const LammpsAtomStyle* judged_atom_style(const LammpsAtomLines& lines) {
  std::vector<const LammpsAtomStyle*> found;
  for (const char* name : {"atomic", "charge", "molecular", "full"}) {
    const LammpsAtomStyle* style = style_named(name);
    if (!style->fits(lines.words)) continue;
    bool fits = style->type() == 1 && style->words() == 5;  // no other style has this many words and three integers
    fits = fits || lines.types[style->type()];
    if (lines.words > style->words())
      for (int k = lines.words - image_flags; k < lines.words; ++k) fits = fits && lines.integers[k];
    if (style->type() == 2) fits = fits && lines.integers[1];  // the molecule
    if (fits) found.push_back(style);
  }
  // If both columns agree, either may hold the types; charges are rarely all integers.
  if (found.size() == 2 && lines.same_types) found.erase(found.begin());
  return found.size() == 1 ? found[0] : nullptr;
}

std::vector<std::string> lammps_styles_of(int words) {
  std::vector<std::string> out;
  for (const LammpsAtomStyle& style : atom_styles)
    if (!style.open() && style.fits(words)) out.emplace_back(style.name);
  return out;
}

}  // namespace cambium::io
