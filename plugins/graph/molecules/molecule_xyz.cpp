#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "core/particles/elements.hpp"
#include "plugins/graph/molecules/molecule.hpp"

namespace cambium::graph {

namespace {

using io::TextLines;

/// The value of key=value or key="value with blanks" in a comment line; none where the key does not stand there.
std::optional<std::string> value_of(const TextLines& file, const std::string& key) {
  const std::string& line = file.line();
  for (std::size_t at = 0; (at = line.find(key + "=", at)) != std::string::npos; ++at) {
    if (at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t') continue;
    const std::size_t from = at + key.size() + 1;
    if (from >= line.size() || line[from] != '"')
      return line.substr(from, std::min(line.find_first_of(" \t", from), line.size()) - from);
    const std::size_t end = line.find('"', from + 1);
    if (end == std::string::npos) file.fail(fmt::format("the value of {} has no closing \"", key));
    return line.substr(from + 1, end - from - 1);
  }
  return {};
}

/// Columns of a frame's atoms, as Properties=name:type:count:... gives them; -1 where absent.
struct Columns {
  int species = -1, position = -1, force = -1, count = 0;

  Columns(const TextLines& file, const std::string& force_name) {
    std::string text = value_of(file, "Properties").value_or("species:S:1:pos:R:3");
    std::replace(text.begin(), text.end(), ':', ' ');
    const auto words = io::split(text);
    for (std::size_t k = 0; k + 2 < words.size(); k += 3) {
      const auto width = file.integer(words[k + 2], fmt::format("the count of {}", words[k]));
      if (width < 1 || width > 1000) file.fail(fmt::format("Properties: {} has {} columns", words[k], width));
      if (words[k] == "species" && width == 1) species = count;
      if (words[k] == "pos" && width == 3) position = count;
      if (words[k] == force_name && width == 3) force = count;
      count += static_cast<int>(width);
    }
    if (species < 0 || position < 0) file.fail("Properties lacks species:S:1 or pos:R:3");
  }
};

void refuse_cell(const TextLines& file) {
  const auto periodic = value_of(file, "pbc");
  const bool open = periodic && periodic->find_first_of("T1") == std::string::npos;
  if (open || (!periodic && !value_of(file, "Lattice"))) return;
  file.fail("molecules are in vacuum, this frame has a periodic cell; write pbc=\"F F F\", or train a deep_potential");
}

class FrameReader {
 public:
  FrameReader(TextLines& file, const std::string& energy, const std::string& force)
      : file_(file), energy_(energy), force_(force) {}

  /// The frame whose number of atoms is the current line.
  Molecule read() {
    const auto words = io::split(file_.line());
    const auto atoms = words.size() == 1 ? file_.integer(words[0], "the number of atoms") : -1;
    if (atoms < 1) file_.fail(fmt::format("expected the number of atoms, found '{}'", file_.line()));
    if (!file_.next()) file_.fail("the file ends where a frame's comment line should be");
    refuse_cell(file_);
    const auto energy = value_of(file_, energy_);
    if (!energy)
      file_.fail(fmt::format("the comment has no {}=...; say by energy: NAME what the energy is called", energy_));
    Molecule out;
    out.energy = file_.real(*energy, energy_);
    const Columns columns(file_, force_);
    for (std::int64_t a = 0; a < atoms; ++a) {
      if (!file_.next()) file_.fail(fmt::format("the file ends after {} of the frame's {} atoms", a, atoms));
      read_atom(columns, out);
    }
    return out;
  }

 private:
  void read_atom(const Columns& columns, Molecule& out) {
    const auto words = io::split(file_.line());
    if (static_cast<int>(words.size()) != columns.count)
      file_.fail(fmt::format("expected {} columns, found {}", columns.count, words.size()));
    const auto symbol = words[columns.species];
    const int number = atomic_number(symbol);
    if (number == 0) file_.fail(fmt::format("'{}' is no element", symbol));
    out.species.push_back(number);
    for (int k = 0; k < 3; ++k) out.position.push_back(file_.real(words[columns.position + k], "a position"));
    for (int k = 0; columns.force >= 0 && k < 3; ++k)
      out.force.push_back(file_.real(words[columns.force + k], "a force"));
  }

  TextLines& file_;
  const std::string &energy_, &force_;
};

}  // namespace

MoleculeTable read_molecule_xyz(const std::string& path, const std::string& energy, const std::string& force) {
  TextLines file(path);
  MoleculeTable out;
  while (file.next()) {
    if (io::split(file.line()).empty()) continue;
    const auto line = file.number();
    out.molecules.push_back(FrameReader(file, energy, force).read());
    require_sound(out.molecules.back(), fmt::format("'{}', frame {} (line {})", path, out.molecules.size() - 1, line));
    const bool forces = !out.molecules.back().force.empty();
    if (out.molecules.size() > 1 && forces != out.forces)
      file.fail(fmt::format("this frame has {} column '{}', those before it have {}", forces ? "a" : "no", force,
                            forces ? "none" : "it"));
    out.forces = forces;
  }
  if (out.molecules.empty()) throw InputError(fmt::format("'{}' holds no frame", path));
  return out;
}

}  // namespace cambium::graph
