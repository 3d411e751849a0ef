#include "plugins/submatrix/dftb/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"

namespace cambium::submatrix {

void SlaterKosterFiles::describe(deck::Describe<SlaterKosterFiles>& d) {
  d("directory", &SlaterKosterFiles::directory,
    "folder of the Slater-Koster files of a parameter set, A-B.skf for elements A and B")
      .example("slakos/mio-1-1");
  d("separator", &SlaterKosterFiles::separator, "text between the two elements in the name of a file").def("-");
  d("suffix", &SlaterKosterFiles::suffix, "end of the name of a file").def(".skf");
}

std::string SlaterKosterFiles::path(const std::string& a, const std::string& b) const {
  return (std::filesystem::path(directory) / (a + separator + b + suffix)).string();
}

double DftbParameters::Element::valence() const {
  double sum = 0.0;
  for (int l = 0; l <= highest; ++l) sum += electrons[l];
  return sum;
}

namespace {

int highest_of(const SkfFile& file, const std::string& symbol, const std::map<std::string, std::string>& shells) {
  const auto named = shells.find(symbol);
  if (named == shells.end()) {
    int highest = 0;
    for (int l = 0; l < most_shells; ++l)
      if (file.electrons[l] > 0.0) highest = l;
    return highest;
  }
  if (named->second == "f")
    throw KeyError(
        "dftb.shells.f", "shells",
        fmt::format("shells gives {} an f shell; dftb has s, p and d shells. Name a set without f, or s, p or d",
                    symbol));
  const auto l = std::string("spd").find(named->second);
  if (named->second.size() != 1 || l == std::string::npos)
    throw KeyError("dftb.shells.unknown", "shells",
                   fmt::format("shells gives {} '{}'; expected its highest shell: s, p or d", symbol, named->second));
  return static_cast<int>(l);
}

/// Highest shell with integrals between two atoms of the element. Rows at short distances may hold any numbers.
int tabulated_in(const SkfFile& file) {
  constexpr std::array<std::size_t, most_shells> sigma{9, 5, 0};
  constexpr double shortest = 1.0, least = 1e-6;  // bohr, hartree
  const auto first = std::min(file.rows.size(), static_cast<std::size_t>(shortest / file.spacing));
  for (int l = most_shells - 1; l > 0; --l)
    if (std::any_of(file.rows.begin() + static_cast<std::ptrdiff_t>(first), file.rows.end(),
                    [&](const auto& row) { return std::abs(row[sigma[static_cast<std::size_t>(l)]]) > least; }))
      return l;
  return 0;
}

Repulsion repulsion_of(const SkfFile& file, RepulsionChoice choice) {
  if (choice == RepulsionChoice::none) return {};
  if (choice == RepulsionChoice::polynomial || (choice == RepulsionChoice::automatic && !file.spline))
    return Repulsion(file.polynomial);
  if (!file.spline)
    throw KeyError(
        "dftb.repulsion.spline", "repulsion",
        fmt::format("{} has no line 'Spline': no spline repulsion; write repulsion: polynomial, or none", file.path));
  return Repulsion(*file.spline);
}

void require_file(const SlaterKosterFiles& files, const std::string& a, const std::string& b) {
  if (const auto path = files.path(a, b); !std::filesystem::is_regular_file(path))
    throw KeyError(
        "dftb.slater_koster.missing", "slater_koster.directory",
        fmt::format("there is no file {} for the pair {} and {}; name the folder of a set that has it, and its "
                    "separator and suffix",
                    path, a, b));
}

}  // namespace

DftbParameters::DftbParameters(const SlaterKosterFiles& files, const std::map<std::string, std::string>& shells,
                               RepulsionChoice repulsion, std::span<const Species> species) {
  for (const auto& [name, shell] : shells)
    if (std::none_of(species.begin(), species.end(), [&](const Species& s) { return s.symbol == name; }))
      throw KeyError("dftb.shells.species", "shells",
                     fmt::format("shells names {}, which the structure does not have; leave it out", name));
  for (const auto& a : species)
    for (const auto& b : species) require_file(files, a.symbol, b.symbol);
  for (const auto& a : species)
    for (const auto& b : species) {
      const bool same = a.symbol == b.symbol;
      const SkfFile file = read_skf(files.path(a.symbol, b.symbol), same);
      table_.emplace_back(file);
      repulsion_.push_back(repulsion_of(file, repulsion));
      cutoff_ = std::max({cutoff_, table_.back().cutoff(), repulsion_.back().cutoff()});
      if (!same) continue;
      auto& element = element_.emplace_back(
          Element{a.symbol, highest_of(file, a.symbol, shells), file.onsite, file.electrons, file.hubbard[0], {}});
      if (const int l = tabulated_in(file); l > element.highest && !shells.contains(a.symbol)) element.left_out = l;
    }
}

void DftbParameters::blocks(int a, int b, bool first, const double d[3], bool gradient, PairBlocks& out) const {
  const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  const auto ab = table(a, b).at(r);
  if (a == b) return slater_koster_blocks(ab, ab, ab, element_[a].highest, element_[b].highest, d, gradient, out);
  const auto ba = table(b, a).at(r);
  slater_koster_blocks(ab, ba, first ? ab : ba, element_[a].highest, element_[b].highest, d, gradient, out);
}

}  // namespace cambium::submatrix
