#include "core/io/structures/lammps_dump_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/structures/lammps_units.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/atom_ids.hpp"

namespace cambium::io {
namespace {

constexpr std::int64_t most_atoms_of_dump = 1'000'000'000'000;
constexpr std::string_view item_mark = "ITEM:";

/// Names of the three columns of one kind of positions.
struct DumpPositions {
  const char* names[3];
  bool scaled, unwrapped;
};
constexpr DumpPositions dump_positions[] = {{{"x", "y", "z"}, false, false},
                                            {{"xs", "ys", "zs"}, true, false},
                                            {{"xu", "yu", "zu"}, false, true},
                                            {{"xsu", "ysu", "zsu"}, true, true}};

/// One frame down to its atoms.
struct DumpHead {
  std::int64_t line = 0;    ///< of TIMESTEP
  std::int64_t atoms = -1;  ///< none yet
  bool has_box = false;
  Box box;  ///< in the file's unit of length
  GivenAxes axes;
  std::vector<std::string> columns;
  TextLines::Mark mark{};  ///< of the first atom
};

class DumpFile {
 public:
  DumpFile(const std::string& path, std::span<const std::string> names, const std::string& units)
      : file_(path), names_(names.begin(), names.end()), chosen_(units) {}

  Structure read(std::int64_t frame) {
    go_to(frame);
    return read_frame();
  }

  std::vector<LammpsDumpFrame> read_all() {
    std::vector<LammpsDumpFrame> out;
    while (read_head()) {
      Structure structure = read_frame();
      out.push_back({std::move(structure), std::move(forces_)});
    }
    if (out.empty()) throw InputError(fmt::format("{} holds no frame", file_.path()));
    return out;
  }

 private:
  /// The frame whose head was read.
  Structure read_frame() {
    s_ = {};
    forces_.clear();
    first_type_.clear();
    other_than_carbon_ = several_types_ = false;
    settle_units();
    s_.box = head_.box;
    s_.axes = head_.axes;
    for (auto& row : s_.box.h)
      for (double& x : row) x *= units_.length;
    for (double& x : s_.box.origin) x *= units_.length;
    s_.nglobal = head_.atoms;
    choose_columns();
    read_atoms();
    finish();
    return std::move(s_);
  }

  /// The words after "ITEM:" of a line; none for another line.
  std::vector<std::string_view> item() const {
    auto words = split(file_.line());
    if (words.empty() || words[0] != item_mark) return {};
    words.erase(words.begin());
    return words;
  }

  void need(const char* what) {
    if (!file_.next()) file_.fail(fmt::format("the file ends where {} should be", what));
  }

  std::int64_t number_below(const char* what, std::int64_t least, std::int64_t most) {
    need(what);
    const auto words = split(file_.line());
    const std::int64_t n = words.size() == 1 ? file_.integer(words[0], what) : least - 1;
    if (n < least || n > most) file_.fail(fmt::format("expected {}, found '{}'", what, file_.line()));
    return n;
  }

  /// Skips frames up to the requested one; from the end if it is negative.
  void go_to(std::int64_t frame) {
    std::vector<DumpHead> heads;
    while (read_head()) {
      heads.push_back(head_);
      if (!file_.skip(head_.atoms)) {
        cut_short_ = std::ssize(heads) - 1;
        break;
      }
      if (std::ssize(heads) - 1 == frame) break;
    }
    const auto count = std::ssize(heads);
    if (count == 0) throw InputError(fmt::format("{} holds no frame", file_.path()));
    const std::int64_t wanted = frame < 0 ? count + frame : frame;
    if (wanted < 0 || wanted >= count)
      throw InputError(
          fmt::format("{} has no frame {}: it holds {} frame{}, numbered 0 to {} (or -1 to -{} from the end)",
                      file_.path(), frame, count, count == 1 ? "" : "s", count - 1, count));
    head_ = std::move(heads[static_cast<std::size_t>(wanted)]);
    if (wanted == cut_short_)
      file_.fail(fmt::format("the file ends inside frame {}, which should hold {} atoms: it was cut short{}", wanted,
                             head_.atoms, wanted > 0 ? fmt::format("; frame {} is complete", wanted - 1) : ""));
    file_.go_to(head_.mark);
  }

  /// The items up to ATOMS; false at the end of the file.
  bool read_head() {
    head_ = {};
    while (file_.next()) {
      const auto words = item();
      if (words.empty()) {
        if (split(file_.line()).empty()) continue;
        file_.fail(fmt::format("expected an item ('ITEM: TIMESTEP'), found '{}'", file_.line().substr(0, 40)));
      }
      if (words[0] == "ATOMS") {
        end_head(words);
        return true;
      }
      read_item(words);
    }
    if (head_.line > 0) file_.fail("the file ends where 'ITEM: ATOMS' should be: it was cut short");
    return false;
  }

  void read_item(const std::vector<std::string_view>& words) {
    const std::string name = join(std::vector<std::string>(words.begin(), words.end()), " ");
    if (name == "UNITS") {
      need("LAMMPS' units");
      style_ = std::string(trim(file_.line()));
    } else if (name == "TIMESTEP" || name == "TIME") {
      if (name == "TIMESTEP") head_.line = file_.number();
      need("a time step");
    } else if (name == "NUMBER OF ATOMS") {
      head_.atoms = number_below("the number of atoms", 0, most_atoms_of_dump);
    } else if (name.starts_with("BOX BOUNDS")) {
      read_box(words);
    } else {
      file_.fail(fmt::format("'ITEM: {}' is nothing of a dump of atoms (styles atom and custom)", name));
    }
  }

  void end_head(std::vector<std::string_view> words) {
    if (head_.atoms < 0 || !head_.has_box)
      file_.fail(fmt::format("the frame has no 'ITEM: {}' before its atoms",
                             head_.atoms < 0 ? "NUMBER OF ATOMS" : "BOX BOUNDS"));
    words.erase(words.begin());
    if (words.empty())
      file_.fail("'ITEM: ATOMS' names no columns; LAMMPS writes them there, as in 'ITEM: ATOMS id type x y z'");
    head_.columns.assign(words.begin(), words.end());
    head_.mark = file_.mark();
    if (head_.line == 0) head_.line = file_.number();
  }

  void read_box(std::vector<std::string_view> words) {
    const bool general = words.size() > 3 && words[2] == "abc";
    for (const auto word : words)
      if (word.size() == 2 && word != "pp" && std::string_view("pfsm").find(word[0]) != std::string_view::npos &&
          std::string_view("pfsm").find(word[1]) != std::string_view::npos)
        file_.fail(
            fmt::format("the boundary is '{}': only cells that are periodic (pp) in all three directions are "
                        "simulated; put free surfaces between vacuum in a periodic cell",
                        word));
    double rows[3][4] = {};
    const bool tilted = words.size() > 2 && words[2] == "xy";
    const std::size_t count = general ? 4 : tilted ? 3 : 2;
    for (auto& row : rows) {
      need("the bounds of the cell");
      const auto numbers = split(file_.line());
      if (numbers.size() < count) file_.fail(fmt::format("expected {} numbers, bounds of the cell", count));
      for (std::size_t k = 0; k < count; ++k) row[k] = file_.real(numbers[k], "a bound of the cell");
    }
    if (general)
      set_general(rows);
    else
      set_bounds(rows);
    head_.has_box = true;
  }

  /// Bounds enclose a tilted cell.
  void set_bounds(const double rows[3][4]) {
    const double xy = rows[0][2], xz = rows[1][2], yz = rows[2][2];
    const double low[3] = {rows[0][0] - std::min({0.0, xy, xz, xy + xz}), rows[1][0] - std::min(0.0, yz), rows[2][0]};
    const double high[3] = {rows[0][1] - std::max({0.0, xy, xz, xy + xz}), rows[1][1] - std::max(0.0, yz), rows[2][1]};
    for (int k = 0; k < 3; ++k) {
      if (!(high[k] > low[k]))
        file_.fail(fmt::format("the cell ends at {} before it begins at {} along {}", high[k], low[k], "xyz"[k]));
      head_.box.origin[k] = low[k];
      head_.box.h[k][k] = high[k] - low[k];
    }
    head_.box.h[1][0] = xy;
    head_.box.h[2][0] = xz;
    head_.box.h[2][1] = yz;
  }

  void set_general(const double rows[3][4]) {
    double vectors[3][3], corner[3], rotation[3][3];
    for (int r = 0; r < 3; ++r) {
      std::copy_n(rows[r], 3, vectors[r]);
      corner[r] = rows[r][3];
    }
    try {
      head_.box = Box::from_vectors(vectors, rotation);
    } catch (const InputError& error) {
      file_.fail(error.what());
    }
    head_.axes = GivenAxes(rotation);
    const auto origin = head_.axes.inside(corner);
    std::copy(origin.begin(), origin.end(), head_.box.origin);
  }

  void settle_units() {
    if (!chosen_.empty() && !style_.empty() && chosen_ != style_)
      s_.warnings.push_back(fmt::format("the item UNITS has {}, the deck units: {}, which is taken", style_, chosen_));
    if (!chosen_.empty()) style_ = chosen_;
    if (style_ == "lj")
      file_.fail(
          "the units are lj: numbers without units are no Å and no g/mol; convert the file, and specify the new units: "
          "structure: {units: metal}");
    if (style_.empty()) return;
    const auto known = lammps_units(style_);
    if (!known) file_.fail(fmt::format("'{}' is no style of LAMMPS' units", style_));
    units_ = *known;
    if (chosen_.empty() && style_ != "metal")
      s_.remarks.push_back(fmt::format("the item UNITS has {}: read as such", style_));
  }

  int column(std::string_view name) const {
    const auto found = std::find(head_.columns.begin(), head_.columns.end(), name);
    return found == head_.columns.end() ? -1 : static_cast<int>(found - head_.columns.begin());
  }
  bool columns(const char* const (&names)[3], int (&out)[3]) const {
    for (int k = 0; k < 3; ++k) out[k] = column(names[k]);
    return out[0] >= 0 && out[1] >= 0 && out[2] >= 0;
  }

  void choose_columns() {
    const auto* found = std::find_if(std::begin(dump_positions), std::end(dump_positions),
                                     [&](const DumpPositions& p) { return columns(p.names, position_); });
    if (found == std::end(dump_positions))
      file_.fail_at(head_.mark.number, "the columns hold no positions: x y z, xs ys zs, xu yu zu or xsu ysu zsu");
    kind_ = *found;
    has_velocity_ = columns({"vx", "vy", "vz"}, velocity_);
    has_force_ = columns({"fx", "fy", "fz"}, force_);
    has_image_ = !kind_.unwrapped && columns({"ix", "iy", "iz"}, image_);
    id_ = column("id");
    mass_ = column("mass");
    type_ = column("type");
    element_ = -1;
    if (names_.empty() || type_ < 0) element_ = column("element") >= 0 ? column("element") : column("typelabel");
    if (element_ >= 0) return;
    if (type_ < 0)
      file_.fail_at(head_.mark.number,
                    "the columns hold no species: element, or type with its names (species: [...] in a "
                    "deck, --species for a command)");
    if (names_.empty())
      throw InputError(
          fmt::format("{}: the dump has type indices and no column element; name the types in their order (type 1 "
                      "first): species: [...] in a deck, --species for a command",
                      file_.path()));
  }

  int type_of_element(std::string_view symbol) {
    const auto found =
        std::find_if(s_.species.begin(), s_.species.end(), [&](const auto& s) { return s.symbol == symbol; });
    if (found != s_.species.end()) return static_cast<int>(found - s_.species.begin());
    s_.species.push_back({std::string(symbol), 0.0});
    return static_cast<int>(s_.species.size()) - 1;
  }

  int type_here(const std::vector<std::string_view>& words) {
    const auto word = words[static_cast<std::size_t>(element_ >= 0 ? element_ : type_)];
    if (element_ >= 0) {
      if (type_ >= 0) note_element(words[static_cast<std::size_t>(type_)], word);
      return type_of_element(word);
    }
    const std::int64_t type = file_.integer(word, "a type");
    if (type < 1 || type > std::ssize(names_))
      file_.fail(
          fmt::format("type {}, but {} name{} given: name one species per type, in the order of the types (type "
                      "1 first)",
                      type, names_.size(), names_.size() == 1 ? " is" : "s are"));
    return type_of_element(names_[static_cast<std::size_t>(type) - 1]);
  }

  /// LAMMPS writes C for all types unless their elements were set.
  void note_element(std::string_view type, std::string_view element) {
    if (element != "C") other_than_carbon_ = true;
    if (first_type_.empty()) first_type_ = type;
    if (type != first_type_) several_types_ = true;
  }

  void take_mass(int type, double mass) {
    Species& species = s_.species[static_cast<std::size_t>(type)];
    if (!(mass > 0.0)) file_.fail(fmt::format("the mass is {} g/mol, but has to be above 0", mass));
    if (species.mass == 0.0) species.mass = mass;
    if (std::abs(species.mass - mass) > 0.005 * mass)
      file_.fail(
          fmt::format("{} has atoms of {} and of {} g/mol: name them differently", species.symbol, species.mass, mass));
  }

  std::array<double, 3> vector(const std::vector<std::string_view>& words, const int (&at)[3], const char* what) const {
    std::array<double, 3> out{};
    for (std::size_t k = 0; k < 3; ++k) out[k] = file_.real(words[static_cast<std::size_t>(at[k])], what);
    return out;
  }

  void read_atoms() {
    std::vector<std::string_view> words;
    for (std::int64_t n = 0; n < head_.atoms; ++n) {
      if (!file_.next()) file_.fail(fmt::format("the file ends after {} of {} atoms", n, head_.atoms));
      split(file_.line(), words);
      if (words.size() != head_.columns.size())
        file_.fail(fmt::format("expected {} columns ({}), found {}", head_.columns.size(), join(head_.columns, " "),
                               words.size()));
      s_.type.push_back(type_here(words));
      auto x = vector(words, position_, "a position");
      if (kind_.scaled) {
        s_.box.to_cartesian(x.data(), s_.x.emplace_back().data());
      } else {
        for (double& c : x) c *= units_.length;
        s_.x.push_back(s_.axes.inside(x.data()));
      }
      if (has_velocity_) {
        auto v = vector(words, velocity_, "a velocity");
        for (double& c : v) c *= units_.velocity;
        s_.v.push_back(s_.axes.inside(v.data()));
      }
      if (has_force_) {
        auto f = vector(words, force_, "a force");
        for (double& c : f) c *= units_.force;
        forces_.push_back(s_.axes.inside(f.data()));
      }
      if (has_image_) {
        auto& image = s_.image.emplace_back();
        for (std::size_t k = 0; k < 3; ++k)
          image[k] = static_cast<int>(file_.integer(words[static_cast<std::size_t>(image_[k])], "an image flag"));
      }
      if (mass_ >= 0)
        take_mass(s_.type.back(), units_.mass * file_.real(words[static_cast<std::size_t>(mass_)], "a mass"));
      s_.tag.push_back(id_ >= 0 ? file_.integer(words[static_cast<std::size_t>(id_)], "an atom id") : n + 1);
    }
  }

  void finish() {
    if (s_.x.empty()) file_.fail_at(head_.line, "the frame holds no atoms");
    if (several_types_ && !other_than_carbon_)
      throw InputError(
          fmt::format("{}: atoms of several types are all called C, as LAMMPS does without `dump_modify "
                      "element`; name the types: species: [...] in a deck, --species for a command",
                      file_.path()));
    const auto done = renumber(s_.tag);
    if (!done.problem.empty()) file_.fail(done.problem);
    if (!done.remark.empty()) s_.remarks.push_back(done.remark);
    if (!has_velocity_ && (column("vx") >= 0 || column("vy") >= 0 || column("vz") >= 0))
      s_.warnings.push_back("velocities are not read: of the columns vx, vy and vz one is missing");
    if (style_.empty() && !s_.v.empty())
      s_.remarks.push_back("the file names no units: velocities were read in those of metal, Å/ps");
    if (style_.empty())
      if (auto doubt = doubt_of_lammps_units(temperature_of(s_)); !doubt.empty())
        s_.warnings.push_back(std::move(doubt));
    for (auto* sentences : {&s_.remarks, &s_.warnings})
      for (auto& sentence : *sentences) sentence = fmt::format("{}: {}", file_.path(), sentence);
  }

  TextLines file_;
  std::vector<std::string> names_;
  std::string chosen_, style_;  ///< units: of the deck; in use
  LammpsUnits units_;
  DumpHead head_;
  std::int64_t cut_short_ = -1;  ///< the frame that the file's end cuts short
  DumpPositions kind_ = dump_positions[0];
  int position_[3] = {}, velocity_[3] = {}, force_[3] = {}, image_[3] = {}, id_ = -1, mass_ = -1, type_ = -1,
      element_ = -1;
  bool has_velocity_ = false, has_force_ = false, has_image_ = false, other_than_carbon_ = false,
       several_types_ = false;
  std::string first_type_;
  std::vector<std::array<double, 3>> forces_;
  Structure s_;
};

}  // namespace

bool is_lammps_dump(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string start(item_mark.size(), ' ');
  return in.read(start.data(), static_cast<std::streamsize>(start.size())) && start == item_mark;
}

Structure read_lammps_dump(const std::string& path, std::span<const std::string> species, std::int64_t frame,
                           const Comm& comm, const std::string& units) {
  Structure structure;
  on_root(comm, [&] { structure = DumpFile(path, species, units).read(frame); });
  scatter(comm, structure);
  return structure;
}

std::vector<LammpsDumpFrame> read_lammps_dump_frames(const std::string& path, std::span<const std::string> species,
                                                     const std::string& units) {
  return DumpFile(path, species, units).read_all();
}

}  // namespace cambium::io
