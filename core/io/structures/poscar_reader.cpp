#include "core/io/structures/poscar_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/elements.hpp"
#include "core/particles/right_handed.hpp"

namespace cambium::io {
namespace {

constexpr double vasp_velocity = 1000.0;  ///< Å/ps of 1 Å/fs

class Poscar {
 public:
  Poscar(const std::string& path, std::span<const std::string> species)
      : file_(path), given_(species.begin(), species.end()) {}

  Structure read(bool velocities) {
    need("the comment line");
    read_cell();
    read_species();
    read_positions();
    if (velocities) read_velocities();
    for (auto* rows : {&s_.x, &s_.v})
      if (s_.axes.turned())
        for (auto& row : *rows) row = s_.axes.inside(row.data());
    return std::move(s_);
  }

 private:
  void need(const char* what) {
    if (!file_.next())
      throw InputError(fmt::format("{} ends before {}: it is cut short, or no POSCAR file", file_.path(), what));
    words_ = split(file_.line());
  }
  double number(std::size_t k, const char* what) const {
    if (k >= words_.size()) file_.fail(fmt::format("expected {}", what));
    return file_.real(words_[k], what);
  }
  /// First letter of a line in lower case; a blank for an empty one.
  char first_letter() const {
    return words_.empty() ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(words_[0][0])));
  }
  bool says_cartesian() const { return first_letter() == 'c' || first_letter() == 'k'; }

  void read_cell() {
    need("the scaling factor");
    double scaling[3] = {};
    const bool three = words_.size() >= 3 && number_of(words_[1]) && number_of(words_[2]);
    for (std::size_t k = 0; k < 3; ++k) scaling[k] = number(three ? k : 0, "the scaling factor");
    const auto line = file_.number();
    for (auto& row : rows_) {
      need("the vectors of the cell");
      for (std::size_t k = 0; k < 3; ++k) row[k] = number(k, "three numbers, a vector of the cell");
    }
    const double volume = std::abs(rows_[0][0] * (rows_[1][1] * rows_[2][2] - rows_[1][2] * rows_[2][1]) -
                                   rows_[0][1] * (rows_[1][0] * rows_[2][2] - rows_[1][2] * rows_[2][0]) +
                                   rows_[0][2] * (rows_[1][0] * rows_[2][1] - rows_[1][1] * rows_[2][0]));
    if (three && !(scaling[0] > 0.0 && scaling[1] > 0.0 && scaling[2] > 0.0))
      file_.fail_at(line, "three scaling factors have to be above 0");
    if (scaling[0] == 0.0) file_.fail_at(line, "the scaling factor is 0");
    if (!three && scaling[0] < 0.0) std::fill_n(scaling, 3, volume > 0.0 ? std::cbrt(-scaling[0] / volume) : 1.0);
    std::copy_n(scaling, 3, scaling_);
    for (auto& row : rows_)
      for (std::size_t k = 0; k < 3; ++k) row[k] *= scaling_[k];
    set_box();
  }

  void set_box() {
    double rows[3][3], rotation[3][3];
    for (std::size_t k = 0; k < 9; ++k) rows[k / 3][k % 3] = rows_[k / 3][k % 3];
    const bool turned_round = make_right_handed(rows);
    try {
      s_.box = Box::from_vectors(rows, rotation);
    } catch (const InputError& error) {
      file_.fail(error.what());
    }
    s_.axes = GivenAxes(rotation);
    if (!turned_round) return;
    s_.remarks.push_back("the cell is left-handed: its vectors are turned round");
    double across[3] = {};  // the corner opposite to the file's
    for (std::size_t k = 0; k < 9; ++k) across[k % 3] -= rows[k / 3][k % 3];
    const auto corner = s_.axes.inside(across);
    std::copy(corner.begin(), corner.end(), s_.box.origin);
  }

  void read_species() {
    need("the species");
    std::vector<std::string> names;
    if (!words_.empty() && !number_of(words_[0])) {
      for (const auto word : words_) {
        names.emplace_back(word.substr(0, word.find_first_of("_/")));
        require_element(names.back());
      }
      need("the numbers of atoms");
    } else {
      names = given_;
    }
    std::vector<std::int64_t> counts;
    for (const auto word : words_) {
      if (!number_of(word)) break;  // a comment after the counts
      counts.push_back(file_.integer(word, "the number of atoms of a species"));
      if (counts.back() < 0) file_.fail(fmt::format("{} atoms of a species", counts.back()));
    }
    if (names.empty())
      file_.fail(
          fmt::format("the file names no species, as VASP 4 wrote it; name those of its {} counts in the deck: "
                      "species: [..]",
                      counts.size()));
    if (names.size() != counts.size() || counts.empty())
      file_.fail(
          fmt::format("{} species ({}) and {} numbers of atoms", names.size(), fmt::join(names, " "), counts.size()));
    for (std::size_t k = 0; k < counts.size(); ++k) add_species(names[k], counts[k]);
    s_.nglobal = std::ssize(s_.type);
    if (s_.nglobal == 0) file_.fail("the file has no atoms");
  }

  void require_element(const std::string& name) const {
    if (standard_mass(name) <= 0.0)
      file_.fail(
          fmt::format("'{}' is no chemical element; the sixth line holds symbols, the seventh numbers of atoms", name));
  }

  void add_species(const std::string& name, std::int64_t count) {
    auto found = std::find_if(s_.species.begin(), s_.species.end(), [&](const auto& s) { return s.symbol == name; });
    if (found == s_.species.end()) found = s_.species.insert(s_.species.end(), {name, 0.0});
    s_.type.insert(s_.type.end(), static_cast<std::size_t>(count), static_cast<int>(found - s_.species.begin()));
  }

  void read_positions() {
    need("the positions");
    const bool selective = first_letter() == 's';
    if (selective) need("the positions");
    if (number_of(words_.empty() ? std::string_view{} : words_[0]))
      file_.fail("expected Direct or Cartesian, above the positions");
    const bool cartesian = says_cartesian();
    std::int64_t held = 0;
    for (std::int64_t i = 0; i < s_.nglobal; ++i) {
      need("the last position");
      std::array<double, 3> given{};
      for (std::size_t k = 0; k < 3; ++k) given[k] = number(k, "three numbers, a position");
      s_.x.push_back(cartesian ? std::array{given[0] * scaling_[0], given[1] * scaling_[1], given[2] * scaling_[2]}
                               : from_direct(given));
      s_.tag.push_back(i + 1);
      if (selective && words_.size() >= 6)
        held += std::any_of(words_.begin() + 3, words_.begin() + 6,
                            [](auto word) { return word[0] == 'F' || word[0] == 'f' || word.starts_with(".F"); });
    }
    if (held > 0)
      s_.warnings.push_back(
          fmt::format("selective dynamics of {} atom{} is not read: all atoms move; hold a group of "
                      "atoms in the deck",
                      held, held == 1 ? "" : "s"));
  }

  std::array<double, 3> from_direct(const std::array<double, 3>& s) const {
    std::array<double, 3> x{};
    for (std::size_t k = 0; k < 3; ++k) x[k] = s[0] * rows_[0][k] + s[1] * rows_[1][k] + s[2] * rows_[2][k];
    return x;
  }

  /// After the positions, or after the lattice velocities if present.
  void read_velocities() {
    if (!file_.next()) return;
    words_ = split(file_.line());
    if (first_letter() == 'l') {  // "Lattice velocities and vectors": a number and six vectors
      constexpr int lines = 7;
      for (int k = 0; k < lines; ++k) need("the velocities of the lattice");
      s_.remarks.push_back("velocities of the lattice are not read");
      if (!file_.next()) return;
      words_ = split(file_.line());
    }
    const bool direct = !words_.empty() && !says_cartesian();
    const auto heading = file_.number();
    bool any = false;
    std::vector<std::array<double, 3>> v;
    for (std::int64_t i = 0; i < s_.nglobal; ++i) {
      if (!file_.next()) {
        if (i == 0) return;
        file_.fail(fmt::format("velocities of {} atoms, expected {}", i, s_.nglobal));
      }
      words_ = split(file_.line());
      if (i == 0 && words_.empty()) return;
      auto& row = v.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) {
        row[k] = vasp_velocity * number(k, "three numbers, a velocity");
        any = any || row[k] != 0.0;
      }
    }
    if (!any) return;
    if (direct)
      file_.fail_at(heading,
                    "velocities in direct coordinates are in lattice vectors a time step, and the file does not give "
                    "the time step (POTIM); write them in Cartesian coordinates (Å/fs), or leave them out");
    s_.v = std::move(v);
  }

  TextLines file_;
  std::vector<std::string> given_;
  std::vector<std::string_view> words_;
  Structure s_;
  double rows_[3][3] = {}, scaling_[3] = {1, 1, 1};  ///< rows: as in the file, scaled
};

}  // namespace

bool is_poscar_name(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename().string(), ending = file.extension().string();
  for (const char* other : {".xyz", ".extxyz", ".h5", ".data", ".lmp", ".lammps"})
    if (ending == other) return false;
  return name.find("POSCAR") != std::string::npos || name.find("CONTCAR") != std::string::npos ||
         name.ends_with(".poscar") || name.ends_with(".vasp");
}

Structure read_poscar(const std::string& path, std::span<const std::string> species, const Comm& comm,
                      bool velocities) {
  Structure structure;
  on_root(comm, [&] {
    structure = Poscar(path, species).read(velocities);
    for (auto* lines : {&structure.remarks, &structure.warnings})
      for (auto& line : *lines) line = fmt::format("{}: {}", path, line);
  });
  scatter(comm, structure);
  return structure;
}

}  // namespace cambium::io
