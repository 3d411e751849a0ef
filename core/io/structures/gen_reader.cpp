#include "core/io/structures/gen_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.hpp"
#include "core/io/structures/cluster_cell.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/elements.hpp"
#include "core/particles/right_handed.hpp"

namespace cambium::io {
namespace {

class GenFile {
 public:
  explicit GenFile(const std::string& path) : file_(path) {}

  Structure read() {
    read_heading();
    read_species();
    for (std::int64_t i = 0; i < s_.nglobal; ++i) read_atom(i);
    require_all_species();
    if (kind_ == 'C')
      put_in_vacuum(s_);
    else
      read_cell();
    if (more())
      file_.fail(fmt::format("a line after the last one: the first line gives {} atom{}{}", s_.nglobal,
                             s_.nglobal == 1 ? "" : "s", kind_ == 'C' ? " and a cluster, without a cell" : ""));
    if (s_.axes.turned())
      for (auto& row : s_.x) row = s_.axes.inside(row.data());
    return std::move(s_);
  }

 private:
  /// The next non-empty line, without comments after #; false at the end of the file.
  bool more() {
    while (file_.next()) {
      const std::string_view line = file_.line();
      split(line.substr(0, line.find('#')), words_);
      if (!words_.empty()) return true;
    }
    return false;
  }
  void need(const std::string& what) {
    if (!more())
      throw InputError(fmt::format("{} ends before {}: it is cut short, or no gen file of DFTB+", file_.path(), what));
  }
  std::array<double, 3> vector(std::size_t first, const char* what) const {
    if (words_.size() != first + 3) file_.fail(fmt::format("{} words, expected {}", words_.size(), what));
    std::array<double, 3> out{};
    for (std::size_t k = 0; k < 3; ++k) out[k] = file_.real(words_[first + k], what);
    return out;
  }

  void read_heading() {
    constexpr const char* expected = "the number of atoms and C, S or F";
    need(expected);
    if (words_.size() != 2) file_.fail(fmt::format("{} words, expected {}", words_.size(), expected));
    s_.nglobal = file_.integer(words_[0], "the number of atoms");
    if (s_.nglobal < 1) file_.fail(fmt::format("{} atoms, expected at least 1", s_.nglobal));
    kind_ = words_[1].size() == 1 ? static_cast<char>(std::toupper(static_cast<unsigned char>(words_[1][0]))) : ' ';
    if (kind_ == 'H')
      file_.fail("helical structures (H) are not read: give the atoms of a periodic cell (S or F), or a cluster (C)");
    if (kind_ != 'C' && kind_ != 'S' && kind_ != 'F')
      file_.fail(
          fmt::format("the kind is '{}', expected C (cluster), S (periodic, Cartesian) or F (periodic, "
                      "fractional)",
                      words_[1]));
  }

  void read_species() {
    need("the species");
    for (const auto word : words_) {
      const std::string symbol(word);
      if (standard_mass(symbol) <= 0.0)
        file_.fail(fmt::format("'{}' is no chemical element; the second line holds the symbols of the species", word));
      if (std::any_of(s_.species.begin(), s_.species.end(), [&](const auto& s) { return s.symbol == symbol; }))
        file_.fail(fmt::format("the species {} occurs twice", symbol));
      s_.species.push_back({symbol, 0.0});
    }
    species_line_ = file_.number();
  }

  void read_atom(std::int64_t i) {
    need(fmt::format("atom {} of {}", i + 1, s_.nglobal));
    s_.x.push_back(vector(2, "five: index, species index and position of an atom"));
    file_.integer(words_[0], "the index of an atom");
    const auto species = file_.integer(words_[1], "the species index of an atom");
    if (species < 1 || species > std::ssize(s_.species))
      file_.fail(fmt::format("species {} of an atom, expected 1 to {}", species, s_.species.size()));
    s_.type.push_back(static_cast<int>(species - 1));
    s_.tag.push_back(i + 1);
  }

  /// As DFTB+ does: an index that no atom has points at a wrong second line.
  void require_all_species() const {
    for (std::size_t k = 0; k < s_.species.size(); ++k)
      if (std::find(s_.type.begin(), s_.type.end(), static_cast<int>(k)) == s_.type.end())
        file_.fail_at(species_line_, fmt::format("no atom has the species {}, {}", k + 1, s_.species[k].symbol));
  }

  void read_cell() {
    need("the origin");
    const auto origin = vector(0, "three numbers, the origin");
    double rows[3][3], rotation[3][3];
    for (auto& row : rows) {
      need("the lattice vectors");
      const auto given = vector(0, "three numbers, a lattice vector");
      std::copy(given.begin(), given.end(), row);
    }
    const auto cartesian = [&](const std::array<double, 3>& s) {
      std::array<double, 3> x{};
      for (std::size_t k = 0; k < 3; ++k) x[k] = s[0] * rows[0][k] + s[1] * rows[1][k] + s[2] * rows[2][k];
      return x;
    };
    corner_ = origin;
    if (kind_ == 'F') {
      for (auto& x : s_.x) x = cartesian(x);
      corner_ = cartesian(origin);
    }
    if (make_right_handed(rows)) {
      s_.remarks.push_back("the cell is left-handed: its vectors are turned round");
      for (std::size_t k = 0; k < 9; ++k) corner_[k % 3] -= rows[k / 3][k % 3];  // the corner across
    }
    try {
      s_.box = Box::from_vectors(rows, rotation);
    } catch (const InputError& error) {
      file_.fail(error.what());
    }
    s_.axes = GivenAxes(rotation);
    const auto corner = s_.axes.inside(corner_.data());
    std::copy(corner.begin(), corner.end(), s_.box.origin);
  }

  TextLines file_;
  std::vector<std::string_view> words_;
  char kind_ = ' ';
  std::int64_t species_line_ = 0;
  std::array<double, 3> corner_ = {0, 0, 0};
  Structure s_;
};

}  // namespace

Structure read_gen(const std::string& path, const Comm& comm) {
  Structure structure;
  on_root(comm, [&] {
    structure = GenFile(path).read();
    for (auto& line : structure.remarks) line = fmt::format("{}: {}", path, line);
  });
  scatter(comm, structure);
  return structure;
}

}  // namespace cambium::io
