#include "core/io/structures/extxyz_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/atom_ids.hpp"
#include "core/particles/elements.hpp"

namespace cambium::io {
namespace {

using Keys = std::map<std::string, std::string, std::less<>>;

/// key=value, key="value with blanks", or a bare key (true).
Keys parse_comment(const TextLines& file) {
  const std::string& line = file.line();
  Keys keys;
  std::size_t at = 0;
  auto skip_blanks = [&] { at = std::min(line.find_first_not_of(" \t", at), line.size()); };
  for (skip_blanks(); at < line.size(); skip_blanks()) {
    const std::size_t end = std::min(line.find_first_of(" \t=", at), line.size());
    const std::string key = line.substr(at, end - at);
    at = end;
    if (at == line.size() || line[at] != '=') {
      keys[key].assign(1, 'T');
      continue;
    }
    ++at;
    const char open = at < line.size() ? line[at] : ' ';
    const char close = open == '"' || open == '\'' ? open : open == '{' ? '}' : open == '[' ? ']' : ' ';
    if (close == ' ') {
      const std::size_t stop = std::min(line.find_first_of(" \t", at), line.size());
      keys[key] = line.substr(at, stop - at);
      at = stop;
    } else {
      const std::size_t stop = line.find(close, at + 1);
      if (stop == std::string::npos) file.fail(fmt::format("the value of {} has no closing {}", key, close));
      keys[key] = line.substr(at + 1, stop - at - 1);
      at = stop + 1;
    }
  }
  return keys;
}

/// Where the columns that we use begin; -1 where absent.
struct Columns {
  static constexpr std::int64_t most_columns = 100000;
  int species = -1, number = -1, position = -1, velocity = -1, momentum = -1, mass = -1, id = -1, count = 0;
  std::string text = "species:S:1:pos:R:3";

  Columns(const TextLines& file, const Keys& keys) {
    if (const auto given = keys.find("Properties"); given != keys.end()) text = given->second;
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(':', at), text.size());
      parts.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    if (parts.size() % 3) file.fail(fmt::format("Properties={} is not a list of name:type:count", text));
    for (std::size_t k = 0; k < parts.size(); k += 3) {
      const std::int64_t given = file.integer(parts[k + 2], fmt::format("the count of {}", parts[k]));
      if (given < 1 || given > most_columns)
        file.fail(
            fmt::format("Properties={}: {} has {} columns, expected 1 to {}", text, parts[k], given, most_columns));
      const auto width = static_cast<int>(given);
      if (parts[k] == "species")
        species = count;
      else if (parts[k] == "Z")
        number = count;
      else if (parts[k] == "pos" && width == 3)
        position = count;
      else if (parts[k] == "velo" && width == 3)
        velocity = count;
      else if (parts[k] == "momenta" && width == 3)
        momentum = count;
      else if (parts[k] == "masses" && width == 1)
        mass = count;
      else if (parts[k] == "id")
        id = count;
      count += width;
      if (count > most_columns) file.fail(fmt::format("Properties={} has more than {} columns", text, most_columns));
    }
    if (position < 0 || (species < 0 && number < 0))
      file.fail(fmt::format("Properties={} lacks {}", text, position < 0 ? "pos:R:3" : "species:S:1 (or Z:I:1)"));
  }
};

std::array<double, 3> turned(const double x[3], const double q[3][3]) {
  std::array<double, 3> out;
  for (int k = 0; k < 3; ++k) out[k] = x[0] * q[0][k] + x[1] * q[1][k] + x[2] * q[2][k];
  return out;
}

/// The numbers of a key's value.
std::vector<double> numbers(const TextLines& file, const Keys& keys, const char* key, std::size_t count) {
  const auto words = split(keys.find(key)->second);
  if (words.size() != count) file.fail(fmt::format("{} holds {} numbers, not {}", key, words.size(), count));
  std::vector<double> values;
  for (const auto word : words) values.push_back(file.real(word, key));
  return values;
}

Box parse_cell(const TextLines& file, const Keys& keys, double rotation[3][3]) {
  if (const auto pbc = keys.find("pbc"); pbc != keys.end())
    for (std::string_view word : split(pbc->second))
      if (word != "T" && word != "True" && word != "1")
        file.fail(
            fmt::format("pbc=\"{}\": only cells that are periodic in all three directions are simulated; put free "
                        "surfaces between vacuum in a periodic cell",
                        pbc->second));
  if (!keys.contains("Lattice"))
    file.fail("no Lattice=\"ax ay az bx by bz cx cy cz\" in the comment line: the periodic cell (Å) is needed");
  const auto values = numbers(file, keys, "Lattice", 9);
  double rows[3][3];
  for (int k = 0; k < 9; ++k) rows[k / 3][k % 3] = values[k];
  Box box;
  try {
    box = Box::from_vectors(rows, rotation);
  } catch (const InputError& error) {
    file.fail(error.what());
  }
  if (keys.contains("Origin")) {
    const auto corner = turned(numbers(file, keys, "Origin", 3).data(), rotation);
    for (int k = 0; k < 3; ++k) box.origin[k] = corner[k];
  }
  return box;
}

std::string_view symbol_of_number(const TextLines& file, std::int64_t z) {
  const auto symbol = z > 0 && z < 1000 ? element_symbol(static_cast<int>(z)) : std::string_view();
  if (symbol.empty()) file.fail(fmt::format("there is no element {}", z));
  return symbol;
}

int type_of(std::vector<Species>& species, std::string_view symbol) {
  for (std::size_t k = 0; k < species.size(); ++k)
    if (species[k].symbol == symbol) return static_cast<int>(k);
  species.push_back({std::string(symbol), 0.0});
  return static_cast<int>(species.size()) - 1;
}

/// The species' mass as ASE's column gives it: one for all of its atoms.
void take_mass(const TextLines& file, Species& species, double mass) {
  if (!(mass > 0.0))
    file.fail(fmt::format("the mass of an atom of {} is {} g/mol, but has to be above 0", species.symbol, mass));
  if (species.mass == 0.0) species.mass = mass;
  if (species.mass != mass)
    file.fail(fmt::format("{} has atoms of {} and of {} g/mol: name the isotopes differently, as in H and D",
                          species.symbol, species.mass, mass));
}

/// Å/ps of ASE's momenta, sqrt(eV g/mol).
double speed_by_momentum(const TextLines& file, const Species& species) {
  const double mass = species.mass > 0.0 ? species.mass : standard_mass(species.symbol);
  if (mass <= 0.0)
    file.fail(
        fmt::format("momenta of {0}, whose mass is not known: add the column masses:R:1, or write velocities "
                    "(velo:R:3, in Å/ps)",
                    species.symbol));
  return 1.0 / (std::sqrt(constants::mvv2e) * mass);
}

Structure parse_frame(TextLines& file, std::int64_t atoms) {
  file.next();
  const Keys keys = parse_comment(file);
  const Columns columns(file, keys);
  Structure s;
  double rotation[3][3];
  s.box = parse_cell(file, keys, rotation);
  s.axes = GivenAxes(rotation);
  s.nglobal = atoms;
  for (std::int64_t n = 0; n < atoms; ++n) {
    file.next();
    const auto words = split(file.line());
    if (static_cast<int>(words.size()) != columns.count)
      file.fail(fmt::format("expected {} columns ({}), found {}", columns.count, columns.text, words.size()));
    auto vector = [&](int first, std::string_view what) {
      double x[3];
      for (int k = 0; k < 3; ++k) x[k] = file.real(words[first + k], what);
      return turned(x, rotation);
    };
    s.type.push_back(type_of(s.species, columns.species >= 0
                                            ? words[columns.species]
                                            : symbol_of_number(file, file.integer(words[columns.number], "Z"))));
    s.x.push_back(vector(columns.position, "a position"));
    Species& species = s.species[s.type.back()];
    if (columns.mass >= 0) take_mass(file, species, file.real(words[columns.mass], "a mass"));
    if (columns.velocity >= 0) {
      s.v.push_back(vector(columns.velocity, "a velocity"));
    } else if (columns.momentum >= 0) {
      s.v.push_back(vector(columns.momentum, "a momentum"));
      for (double& v : s.v.back()) v *= speed_by_momentum(file, species);
    }
    s.tag.push_back(columns.id >= 0 ? file.integer(words[columns.id], "an id") : n + 1);
  }
  const std::string problem = problem_of_ids(s.tag);
  if (!problem.empty()) file.fail(problem);
  return s;
}

std::int64_t atoms_of_frame(const TextLines& file) {
  const auto words = split(file.line());
  const std::int64_t atoms = words.size() == 1 ? file.integer(words[0], "the number of atoms") : -1;
  if (atoms < 1) file.fail(fmt::format("expected the number of atoms, found '{}'", file.line()));
  return atoms;
}

/// Where each frame starts (the line of its comment) and its number of atoms. A frame cut short has a negative number.
struct ReadFrame {
  TextLines::Mark comment;
  std::int64_t atoms;
};
std::vector<ReadFrame> scan(TextLines& file, std::int64_t stop_after) {
  std::vector<ReadFrame> frames;
  while (file.next()) {
    if (split(file.line()).empty()) continue;
    const std::int64_t atoms = atoms_of_frame(file);
    frames.push_back({file.mark(), atoms});
    for (std::int64_t n = 0; n <= atoms; ++n)
      if (!file.next()) {
        frames.back().atoms = -atoms;
        return frames;
      }
    if (static_cast<std::int64_t>(frames.size()) == stop_after) break;
  }
  return frames;
}

Structure read_here(const std::string& path, std::int64_t frame) {
  TextLines file(path);
  const auto frames = scan(file, frame < 0 ? -1 : frame + 1);
  const std::int64_t count = static_cast<std::int64_t>(frames.size());
  if (count == 0) throw InputError(fmt::format("{} holds no atoms", path));
  const std::int64_t chosen = frame < 0 ? count + frame : frame;
  if (chosen < 0 || chosen >= count)
    throw InputError(
        fmt::format("{} has no frame {}: it holds {} frame{}, numbered 0 to {} (or -1 to -{} from the end)", path,
                    frame, count, count == 1 ? "" : "s", count - 1, count));
  const ReadFrame& found = frames[chosen];
  if (found.atoms < 0)
    file.fail(fmt::format("the file ends inside frame {}, which should hold {} atoms: it was cut short{}", chosen,
                          -found.atoms, chosen > 0 ? fmt::format("; frame {} is whole", chosen - 1) : ""));
  file.go_to(found.comment);
  return parse_frame(file, found.atoms);
}

}  // namespace

Structure read_extxyz(const std::string& path, std::int64_t frame, const Comm& comm) {
  Structure structure;
  on_root(comm, [&] { structure = read_here(path, frame); });
  scatter(comm, structure);
  return structure;
}

}  // namespace cambium::io
