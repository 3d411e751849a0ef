#include "core/io/structures/lammps_data_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/structures/lammps_atom_styles.hpp"
#include "core/io/structures/lammps_units.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/atom_ids.hpp"

namespace cambium::io {
namespace {

constexpr std::int64_t most_atoms_of_data = 1'000'000'000'000, most_types_of_data = 1'000'000;

/// The lines of a data file: its sections, and their lines without remarks.
class DataLines {
 public:
  explicit DataLines(const std::string& path) : file_(path) {}

  TextLines& file() { return file_; }
  const TextLines& file() const { return file_; }
  const std::vector<std::string_view>& words() const { return words_; }
  std::string_view word(std::size_t k) const { return words_[k]; }
  int count() const { return static_cast<int>(words_.size()); }
  const std::string& section() const { return section_; }  ///< empty at the end of the file
  const std::string& remark() const { return remark_; }    ///< comment after the section's name

  /// Goes to the next line that is not empty or a comment. False at the end of the file.
  bool next() {
    while (file_.next()) {
      const std::string& line = file_.line();
      mark_ = std::min(line.find('#'), line.size());
      split(std::string_view(line).substr(0, mark_), words_);
      if (!words_.empty()) return true;
    }
    words_.clear();
    section_.clear();
    return false;
  }

  bool starts_section() const { return std::isalpha(static_cast<unsigned char>(words_[0][0])) != 0; }

  void enter_section() {
    section_ = fmt::format("{}", fmt::join(words_, " "));
    remark_ = mark_ < file_.line().size() ? file_.line().substr(mark_ + 1) : std::string();
  }

  /// Advances to the next line of data; false at the end of the section, which has then been replaced by the next one.
  bool next_row() {
    if (!next()) return false;
    if (!starts_section()) return true;
    enter_section();
    return false;
  }

  /// Skips to the next section, or the end.
  void next_section() {
    if (next()) enter_section();
  }

  bool ends_with(std::initializer_list<std::string_view> tail) const {
    return words_.size() >= tail.size() && std::equal(tail.begin(), tail.end(), words_.end() - std::ssize(tail));
  }

 private:
  TextLines file_;
  std::vector<std::string_view> words_;
  std::size_t mark_ = 0;
  std::string section_, remark_;
};

/// The header: counts and the cell.
struct DataHeader {
  std::int64_t atoms = 0, types = 0;
  Box box;
  GivenAxes axes;

  void read(DataLines& lines, double length) {
    while (lines.next()) {
      if (lines.starts_section()) {
        lines.enter_section();
        break;
      }
      read_line(lines, length);
    }
    finish(lines.file());
  }

 private:
  int edges_ = 0;
  bool general_ = false;
  double vectors_[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, corner_[3] = {0, 0, 0};

  void read_line(DataLines& l, double length) {
    if (l.ends_with({"atoms"}))
      atoms = number(l, "atoms", most_atoms_of_data);
    else if (l.ends_with({"atom", "types"}))
      types = number(l, "atom types", most_types_of_data);
    else if (l.ends_with({"xlo", "xhi"}))
      read_edge(l, 0, length);
    else if (l.ends_with({"ylo", "yhi"}))
      read_edge(l, 1, length);
    else if (l.ends_with({"zlo", "zhi"}))
      read_edge(l, 2, length);
    else if (l.ends_with({"xy", "xz", "yz"}))
      read_tilt(l, length);
    else if (l.ends_with({"avec"}))
      read_vector(l, vectors_[0], length);
    else if (l.ends_with({"bvec"}))
      read_vector(l, vectors_[1], length);
    else if (l.ends_with({"cvec"}))
      read_vector(l, vectors_[2], length);
    else if (l.ends_with({"abc", "origin"}))
      read_vector(l, corner_, length);
  }

  /// How many of something the header announces.
  static std::int64_t number(const DataLines& l, std::string_view what, std::int64_t most) {
    const std::int64_t n = l.file().integer(l.word(0), fmt::format("the number of {}", what));
    if (n < 1 || n > most) l.file().fail(fmt::format("{} {}: expected 1 to {}", n, what, most));
    return n;
  }

  void read_edge(const DataLines& l, int d, double length) {
    if (l.count() != 4) l.file().fail("expected two numbers, the low and the high end of the cell");
    const double low = l.file().real(l.word(0), l.word(2)), high = l.file().real(l.word(1), l.word(3));
    if (!(high > low)) l.file().fail(fmt::format("the cell ends at {} before it begins at {}", high, low));
    box.origin[d] = length * low;
    box.h[d][d] = length * (high - low);
    edges_ |= 1 << d;
  }

  void read_tilt(const DataLines& l, double length) {
    if (l.count() != 6) l.file().fail("expected three numbers, the tilts xy xz yz");
    box.h[1][0] = length * l.file().real(l.word(0), "xy");
    box.h[2][0] = length * l.file().real(l.word(1), "xz");
    box.h[2][1] = length * l.file().real(l.word(2), "yz");
  }

  void read_vector(const DataLines& l, double* vector, double length) {
    if (l.count() < 4) l.file().fail(fmt::format("expected three numbers in front of {}", l.words().back()));
    for (std::size_t k = 0; k < 3; ++k) vector[k] = length * l.file().real(l.word(k), l.words().back());
    general_ = true;
  }

  void finish(const TextLines& file) {
    if (general_ && edges_ != 0)
      throw InputError(fmt::format("{} gives the cell twice, by xlo xhi and by avec, bvec, cvec: leave one of them out",
                                   file.path()));
    if (general_) {
      double rotation[3][3];
      try {
        box = Box::from_vectors(vectors_, rotation);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", file.path(), error.what()));
      }
      axes = GivenAxes(rotation);
      const auto corner = axes.inside(corner_);
      std::copy(corner.begin(), corner.end(), box.origin);
    } else if (edges_ != 7) {
      throw InputError(fmt::format(
          "{0} lacks a line 'xlo xhi', 'ylo yhi' or 'zlo zhi', so it is no LAMMPS data file, as which it was "
          "read; ASE makes extended XYZ of CIF, PDB and others: ase.io.write(\"atoms.xyz\", "
          "ase.io.read(\"{0}\"))",
          file.path()));
    }
  }
};

class DataFile {
 public:
  DataFile(const std::string& path, std::span<const std::string> names, const std::string& units)
      : lines_(path), file_(lines_.file()), names_(names.begin(), names.end()), style_(units) {}

  Structure read() {
    read_title();
    header_.read(lines_, units_.length);
    s_.box = header_.box;
    s_.axes = header_.axes;
    s_.nglobal = header_.atoms;
    while (!lines_.section().empty()) read_section();
    finish();
    return std::move(s_);
  }

  /// By ids, in e.
  std::vector<double> read_charges() {
    read_title();
    header_.read(lines_, units_.length);
    while (!lines_.section().empty() && s_.x.empty()) read_section();
    if (s_.x.empty()) throw InputError(fmt::format("{} has no section Atoms", file_.path()));
    if (charges_.empty())
      throw InputError(fmt::format(
          "{}: its section Atoms has no charges, those of atom style charge or full; give charges by species",
          file_.path()));
    std::vector<double> out(charges_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = charges_[row_of_tag_[i]];
    return out;
  }

 private:
  void read_title() {
    const bool chosen = !style_.empty();
    file_.next();
    if (file_.line().starts_with("ITEM:"))
      file_.fail(
          "a dump of LAMMPS was found, expected a data file (write_data); a structure reads it with format: "
          "lammps_dump");
    const std::string title = lammps_style_of_title(file_.line());
    if (chosen && !title.empty() && title != style_)
      s_.warnings.push_back(fmt::format("the title has units = {}, the deck units: {}, which is taken", title, style_));
    if (!chosen) style_ = title;
    if (style_ == "lj")
      file_.fail(
          "units = lj: numbers without units are no Å and no g/mol; convert the file, and specify the new units: "
          "structure: {units: metal}");
    if (style_.empty()) return;
    units_ = *lammps_units(style_);
    if (!chosen && style_ != "metal")
      s_.remarks.push_back(fmt::format("the title has units = {}: read as such", style_));
  }

  void read_section() {
    const std::string name = lines_.section();
    if (name == "Atom Type Labels")
      read_labels();
    else if (name == "Masses")
      read_masses();
    else if (name == "Atoms")
      read_atoms();
    else if (name == "Velocities")
      read_velocities();
    else
      skip_section(name);
  }

  void skip_section(const std::string& name) {
    bool empty = true;
    while (lines_.next_row()) empty = false;
    if (!empty) unread_.push_back(name);
  }

  /// Index of a type given as number or label; none if a word is neither.
  std::optional<int> type_of(std::string_view word) const {
    for (std::size_t k = 0; k < labels_.size(); ++k)
      if (labels_[k] == word) return static_cast<int>(k);
    std::int64_t type = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), type);
    if (error != std::errc() || end != word.data() + word.size() || type < 1 || type > header_.types) return {};
    return static_cast<int>(type - 1);
  }

  int type_index(std::string_view word) const {
    if (const auto type = type_of(word)) return *type;
    const std::int64_t type = file_.integer(word, "a type");
    file_.fail(fmt::format("type {} is outside of 1 to {} (atom types)", type, header_.types));
  }

  void read_labels() {
    labels_.assign(header_.types, {});
    while (lines_.next_row()) {
      if (lines_.count() != 2) file_.fail("expected a type and its label");
      labels_[type_index(lines_.word(0))] = lines_.word(1);
    }
  }

  void read_masses() {
    masses_.assign(header_.types, 0.0);
    for (std::int64_t k = 0; k < header_.types; ++k) {  // counted, since a label may look like a section
      if (!lines_.next() || lines_.count() != 2)
        file_.fail(fmt::format("expected {} lines 'type mass'", header_.types));
      masses_[type_index(lines_.word(0))] = units_.mass * file_.real(lines_.word(1), "a mass");
    }
    lines_.next_section();
  }

  /// Scans lines of the section Atoms, and returns to the first.
  LammpsAtomLines look_through_atoms(std::int64_t most) {
    const auto start = file_.mark();
    LammpsAtomLines out;
    for (std::int64_t n = 0; n < most && lines_.next(); ++n) {
      const auto words = static_cast<std::size_t>(lines_.count());
      if (n == 0) {
        out.words = lines_.count();
        out.integers.assign(words, true);
        out.types.assign(words, true);
      }
      if (lines_.count() != out.words) break;  // read_atoms() reports the line
      for (std::size_t k = 0; k < words; ++k) {
        const std::string_view word = lines_.word(k);
        out.integers[k] = out.integers[k] && word.find_first_not_of("+-0123456789") == std::string_view::npos;
        out.types[k] = out.types[k] && type_of(word).has_value();
      }
      out.same_types = out.same_types && words > 2 && lines_.word(1) == lines_.word(2);
    }
    file_.go_to(start);
    return out;
  }

  /// The style of the section Atoms: that of its comment, if it names one that fits the lines, else inferred from the
  /// lines.
  const LammpsAtomStyle& style_of_atoms() {
    const std::string remark = lines_.remark();
    const auto words = split(remark);
    const LammpsAtomStyle* named = words.empty() ? nullptr : lammps_atom_style(words[0]);
    const auto seen = look_through_atoms(named && !named->open() && words.size() == 1 ? 1 : header_.atoms);
    flags_ = seen.words >= 8 && std::all_of(seen.integers.end() - 3, seen.integers.end(), [](bool b) { return b; });
    if (seen.words == 0) file_.fail(fmt::format("the file ends after 0 of {} atoms", header_.atoms));
    if (named && (named->fits(seen.words) || words.size() == 1)) return *named;
    if (const auto* judged = judged_atom_style(seen)) return *judged;
    const auto possible = lammps_styles_of(seen.words);
    file_.fail(fmt::format(
        "the lines of Atoms have {} words, which {}: give it after the section's name, as in 'Atoms # {}'{}",
        seen.words,
        possible.empty() ? "no atom style has" : fmt::format("may be atom style {}", join(possible, " or ")),
        possible.empty() ? "atomic" : possible[0],
        words.empty() || named ? "" : fmt::format(" ('{}' is no atom style)", words[0])));
  }

  void read_atoms() {
    if (header_.atoms == 0) file_.fail("the header has no line 'N atoms', which gives the number of lines of Atoms");
    const LammpsAtomStyle& style = style_of_atoms();
    const auto type = static_cast<std::size_t>(style.type()), position = static_cast<std::size_t>(style.position());
    const int charge = style.charge();
    for (std::int64_t n = 0; n < header_.atoms; ++n) {
      if (!lines_.next()) file_.fail(fmt::format("the file ends after {} of {} atoms", n, header_.atoms));
      const int words = lines_.count();
      if (!style.fits(words))
        file_.fail(fmt::format("expected '{0}' or '{0} ix iy iz', found {1} words{2}", style.columns, words,
                               lines_.starts_section() ? fmt::format(" after {} of {} atoms", n, header_.atoms) : ""));
      s_.tag.push_back(file_.integer(lines_.word(0), "an atom id"));
      s_.type.push_back(type_index(lines_.word(type)));
      auto& x = s_.x.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) x[k] = units_.length * file_.real(lines_.word(position + k), "a position");
      x = s_.axes.inside(x.data());
      auto& image = s_.image.emplace_back();
      if (charge >= 0)
        charges_.push_back(units_.charge * file_.real(lines_.word(static_cast<std::size_t>(charge)), "a charge"));
      if (style.open() ? !flags_ : words == style.words()) continue;
      const auto first = static_cast<std::size_t>(words) - 3;
      for (std::size_t k = 0; k < 3; ++k)
        image[k] = static_cast<int>(file_.integer(lines_.word(first + k), "an image flag"));
    }
    take_ids();
    if (const auto others = style.others(); !others.empty())
      s_.remarks.push_back(fmt::format("atom style {}: not read: {}", style.name, join(others)));
    lines_.next_section();
  }

  void take_ids() {
    auto done = renumber(s_.tag);
    if (!done.problem.empty()) file_.fail(done.problem);
    if (!done.remark.empty()) s_.remarks.push_back(done.remark);
    old_ = std::move(done.old);
    row_of_tag_.resize(s_.tag.size());
    for (std::size_t i = 0; i < s_.tag.size(); ++i) row_of_tag_[static_cast<std::size_t>(s_.tag[i]) - 1] = i;
  }

  /// The row of an atom by the id of the file.
  std::size_t row_of(std::int64_t id) const {
    if (!old_.empty()) {
      const auto found = std::lower_bound(old_.begin(), old_.end(), id);
      id = found != old_.end() && *found == id ? found - old_.begin() + 1 : 0;
    }
    if (id < 1 || id > s_.nglobal) file_.fail(fmt::format("there is no atom {}", lines_.word(0)));
    return row_of_tag_[static_cast<std::size_t>(id) - 1];
  }

  void read_velocities() {
    if (s_.x.empty()) file_.fail("Velocities come before Atoms: put them after");
    s_.v.assign(s_.x.size(), {0.0, 0.0, 0.0});
    std::int64_t lines = 0;
    for (; lines_.next_row(); ++lines) {
      // The styles electron, sphere and ellipsoid have one or three more values.
      if (lines_.count() != 4 && lines_.count() != 5 && lines_.count() != 7)
        file_.fail(fmt::format("expected 'id vx vy vz', found {} words", lines_.count()));
      auto& v = s_.v[row_of(file_.integer(lines_.word(0), "an atom id"))];
      for (std::size_t k = 0; k < 3; ++k) v[k] = units_.velocity * file_.real(lines_.word(1 + k), "a velocity");
      v = s_.axes.inside(v.data());
    }
    if (lines != s_.nglobal)
      s_.warnings.push_back(
          fmt::format("Velocities has {} lines for {} atoms; the others are at rest", lines, s_.nglobal));
  }

  void finish() {
    if (s_.x.empty()) throw InputError(fmt::format("{} has no section Atoms", file_.path()));
    merge_types(labels_.empty() ? names_ : labels_);
    if (!unread_.empty()) s_.remarks.push_back(fmt::format("sections not read: {}", join(unread_)));
    if (style_.empty() && !s_.v.empty())
      s_.remarks.push_back("the title names no units: velocities were read in those of metal, Å/ps");
    if (style_.empty())
      if (auto doubt = doubt_of_lammps_units(temperature_of(s_)); !doubt.empty())
        s_.warnings.push_back(std::move(doubt));
    for (auto* sentences : {&s_.remarks, &s_.warnings})
      for (auto& sentence : *sentences) sentence = fmt::format("{}: {}", file_.path(), sentence);
  }

  /// Names the types; those of one name become one species.
  void merge_types(const std::vector<std::string>& names) {
    if (std::ssize(names) != header_.types)
      throw InputError(
          fmt::format("{} has {} atom types, but {} names are given: name one species per type, in the order of the "
                      "types (type 1 first): species: [...] in a deck, --species for a command",
                      file_.path(), header_.types, names.size()));
    std::vector<int> species_of;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const double mass = masses_.empty() ? 0.0 : masses_[k];
      auto found =
          std::find_if(s_.species.begin(), s_.species.end(), [&](const auto& s) { return s.symbol == names[k]; });
      if (found == s_.species.end()) found = s_.species.insert(found, {names[k], mass});
      if (std::abs(found->mass - mass) > 0.005 * mass)
        throw InputError(
            fmt::format("{}: two types are named {}, but their masses are {} and {} g/mol: name them "
                        "differently",
                        file_.path(), names[k], found->mass, mass));
      species_of.push_back(static_cast<int>(found - s_.species.begin()));
    }
    for (int& type : s_.type) type = species_of[type];
  }

  DataLines lines_;
  TextLines& file_;
  std::vector<std::string> names_;
  std::string style_;  ///< of units
  LammpsUnits units_;
  DataHeader header_;
  Structure s_;
  std::vector<std::string> labels_, unread_;
  std::vector<double> masses_, charges_;
  bool flags_ = false;             ///< lines end with three integers
  std::vector<std::int64_t> old_;  ///< ids of the file, if they were changed
  std::vector<std::size_t> row_of_tag_;
};

}  // namespace

Structure read_lammps_data(const std::string& path, std::span<const std::string> species, const Comm& comm,
                           const std::string& units) {
  Structure structure;
  on_root(comm, [&] { structure = DataFile(path, species, units).read(); });
  scatter(comm, structure);
  return structure;
}

std::vector<double> read_lammps_charges(const std::string& path) { return DataFile(path, {}, "").read_charges(); }

}  // namespace cambium::io
