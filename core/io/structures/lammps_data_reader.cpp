#include "core/io/structures/lammps_data_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <optional>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/atom_ids.hpp"

namespace cambium::io {
namespace {

class DataFile {
 public:
  DataFile(const std::string& path, std::span<const std::string> names) : file_(path) {
    for (const auto& name : names) s_.species.push_back({name, 0.0});
  }

  Structure read() {
    file_.next();  // a title
    read_header();
    while (!section_.empty()) read_section();
    finish();
    return std::move(s_);
  }

 private:
  /// Goes to the next line that is not empty or a comment; `words_` are its words. False at the end of the file.
  bool next() {
    while (file_.next()) {
      const std::string& line = file_.line();
      const std::size_t mark = std::min(line.find('#'), line.size());
      words_ = split(std::string_view(line).substr(0, mark));
      remark_ = mark < line.size() ? line.substr(mark + 1) : std::string();
      if (!words_.empty()) return true;
    }
    words_.clear();
    section_.clear();
    return false;
  }

  bool starts_section() const { return std::isalpha(static_cast<unsigned char>(words_[0][0])) != 0; }

  void enter_section() {
    section_ = fmt::format("{}", fmt::join(words_, " "));
    style_ = remark_;
  }

  /// Fills `words_` with the next line of data; false at the end of the section, which the next one has then replaced.
  bool next_row() {
    if (!next()) return false;
    if (!starts_section()) return true;
    enter_section();
    return false;
  }

  bool ends_with(std::initializer_list<std::string_view> tail) const {
    if (words_.size() < tail.size()) return false;
    return std::equal(tail.begin(), tail.end(), words_.end() - tail.size());
  }

  void read_header() {
    while (next()) {
      if (starts_section()) return enter_section();
      if (ends_with({"atoms"}))
        s_.nglobal = count("atoms", most_atoms);
      else if (ends_with({"atom", "types"}))
        types_ = count("atom types", most_types);
      else if (ends_with({"xlo", "xhi"}))
        read_edge(0);
      else if (ends_with({"ylo", "yhi"}))
        read_edge(1);
      else if (ends_with({"zlo", "zhi"}))
        read_edge(2);
      else if (ends_with({"xy", "xz", "yz"}))
        read_tilt();
      else if (ends_with({"avec"}) || ends_with({"abc", "origin"}))
        file_.fail(
            "a general triclinic cell (avec, bvec, cvec): write the file with restricted triclinic vectors (xlo xhi "
            "... xy xz yz)");
    }
  }

  static constexpr std::int64_t most_atoms = 1'000'000'000'000, most_types = 1'000'000;

  /// How many of something the header announces.
  std::int64_t count(std::string_view what, std::int64_t most) {
    const std::int64_t n = file_.integer(words_[0], fmt::format("the number of {}", what));
    if (n < 1 || n > most) file_.fail(fmt::format("{} {}: expected 1 to {}", n, what, most));
    return n;
  }

  void read_edge(int d) {
    if (words_.size() != 4) file_.fail("expected two numbers, the low and the high end of the cell");
    const double low = file_.real(words_[0], words_[2]), high = file_.real(words_[1], words_[3]);
    if (!(high > low)) file_.fail(fmt::format("the cell ends at {} before it begins at {}", high, low));
    s_.box.origin[d] = low;
    s_.box.h[d][d] = high - low;
    edges_ |= 1 << d;
  }

  void read_tilt() {
    if (words_.size() != 6) file_.fail("expected three numbers, the tilts xy xz yz");
    s_.box.h[1][0] = file_.real(words_[0], "xy");
    s_.box.h[2][0] = file_.real(words_[1], "xz");
    s_.box.h[2][1] = file_.real(words_[2], "yz");
  }

  void read_section() {
    if (section_ == "Atom Type Labels")
      read_labels();
    else if (section_ == "Masses")
      read_masses();
    else if (section_ == "Atoms")
      read_atoms();
    else if (section_ == "Velocities")
      read_velocities();
    else
      while (next_row()) {
      }
  }

  /// Index of a type given as number or label.
  int type_index(std::string_view word) {
    for (std::size_t k = 0; k < labels_.size(); ++k)
      if (labels_[k] == word) return static_cast<int>(k);
    const std::int64_t type = file_.integer(word, "a type");
    if (type < 1 || type > types_) file_.fail(fmt::format("type {} is outside of 1 to {} (atom types)", type, types_));
    return static_cast<int>(type - 1);
  }

  void read_labels() {
    labels_.assign(types_, {});
    while (next_row()) {
      if (words_.size() != 2) file_.fail("expected a type and its label");
      const int type = type_index(words_[0]);
      labels_[type] = words_[1];
    }
  }

  void read_masses() {
    masses_.assign(types_, 0.0);
    for (std::int64_t k = 0; k < types_; ++k) {  // counted, since a label may look like a section
      if (!next() || words_.size() != 2) file_.fail(fmt::format("expected {} lines 'type mass'", types_));
      masses_[type_index(words_[0])] = file_.real(words_[1], "a mass");
    }
    if (next()) enter_section();
  }

  void read_atoms() {
    const auto style = split(style_);
    if (!style.empty() && style[0] != "atomic")
      file_.fail(
          fmt::format("atom style '{}' is not read, only 'atomic' (id type x y z): change the style with LAMMPS "
                      "(atom_style atomic, read_data, write_data)",
                      style[0]));
    for (std::int64_t n = 0; n < s_.nglobal; ++n) {
      if (!next()) file_.fail(fmt::format("the file ends after {} of {} atoms", n, s_.nglobal));
      if (words_.size() != 5 && words_.size() != 8)
        file_.fail(fmt::format("expected 'id type x y z' or 'id type x y z ix iy iz', found {} words{}", words_.size(),
                               starts_section() ? fmt::format(" after {} of {} atoms", n, s_.nglobal) : ""));
      s_.tag.push_back(file_.integer(words_[0], "an atom id"));
      s_.type.push_back(type_index(words_[1]));
      auto& x = s_.x.emplace_back();
      for (int k = 0; k < 3; ++k) x[k] = file_.real(words_[2 + k], "a position");
      auto& image = s_.image.emplace_back();
      if (words_.size() == 8)
        for (int k = 0; k < 3; ++k) image[k] = static_cast<int>(file_.integer(words_[5 + k], "an image flag"));
    }
    const std::string problem = problem_of_ids(s_.tag);
    if (!problem.empty()) file_.fail(problem);
    row_of_tag_.resize(s_.tag.size());
    for (std::size_t i = 0; i < s_.tag.size(); ++i) row_of_tag_[s_.tag[i] - 1] = i;
    if (next()) enter_section();
  }

  void read_velocities() {
    if (s_.x.empty()) file_.fail("Velocities come before Atoms: put them behind");
    s_.v.assign(s_.x.size(), {0.0, 0.0, 0.0});
    while (next_row()) {
      if (words_.size() != 4) file_.fail(fmt::format("expected 'id vx vy vz', found {} words", words_.size()));
      const std::int64_t id = file_.integer(words_[0], "an atom id");
      if (id < 1 || id > s_.nglobal) file_.fail(fmt::format("there is no atom {}", id));
      for (int k = 0; k < 3; ++k) s_.v[row_of_tag_[id - 1]][k] = file_.real(words_[1 + k], "a velocity");
    }
  }

  void finish() {
    const std::string& path = file_.path();
    if (edges_ != 7)
      throw InputError(fmt::format(
          "{0} lacks a line 'xlo xhi', 'ylo yhi' or 'zlo zhi', so it is no LAMMPS data file, as which it was "
          "read; ASE makes extended XYZ of POSCAR, CIF, PDB and others: ase.io.write(\"atoms.xyz\", "
          "ase.io.read(\"{0}\"))",
          path));
    if (s_.x.empty()) throw InputError(fmt::format("{} has no section Atoms", path));
    if (!labels_.empty()) {
      s_.species.clear();
      for (const auto& label : labels_) s_.species.push_back({label, 0.0});
    }
    if (static_cast<std::int64_t>(s_.species.size()) != types_)
      throw InputError(
          fmt::format("{} has {} atom types, but {} names are given: name one species per type, in the order of the "
                      "types (type 1 first)",
                      path, types_, s_.species.size()));
    for (std::size_t k = 0; k < masses_.size(); ++k) s_.species[k].mass = masses_[k];
  }

  TextLines file_;
  Structure s_;
  std::int64_t types_ = 0;
  int edges_ = 0;
  std::vector<std::string_view> words_;
  std::string remark_, section_, style_;
  std::vector<std::string> labels_;
  std::vector<double> masses_;
  std::vector<std::size_t> row_of_tag_;
};

}  // namespace

Structure read_lammps_data(const std::string& path, std::span<const std::string> species, const Comm& comm) {
  Structure structure;
  on_root(comm, [&] { structure = DataFile(path, species).read(); });
  scatter(comm, structure);
  return structure;
}

}  // namespace cambium::io
