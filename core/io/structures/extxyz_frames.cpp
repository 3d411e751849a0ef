#include "core/io/structures/extxyz_frames.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/particles/elements.hpp"

namespace cambium::io {

namespace {

using Role = ExtxyzRole;

/// Memory reserved by a file's own number of atoms, which may be wrong, is limited to this.
constexpr std::int64_t most_atoms_reserved = 1 << 22, most_atoms_of_frame = 1'000'000'000'000;

bool says_no(std::string_view word) { return same_letters(word, "F") || same_letters(word, "false") || word == "0"; }

int type_of_symbol(std::vector<std::string>& species, int last, std::string_view symbol) {
  if (last >= 0 && species[last] == symbol) return last;
  const auto found = std::find(species.begin(), species.end(), symbol);
  if (found == species.end()) return species.emplace_back(symbol), static_cast<int>(species.size()) - 1;
  return static_cast<int>(found - species.begin());
}

}  // namespace

std::int64_t ExtxyzReader::atoms_here() const {
  const auto words = split(file_.line());
  const std::int64_t atoms = words.size() == 1 ? file_.integer(words[0], "the number of atoms") : -1;
  if (atoms < 1 || atoms > most_atoms_of_frame)
    file_.fail(fmt::format("expected the number of atoms, found '{}'", file_.line()));
  return atoms;
}

bool ExtxyzReader::next(ExtxyzFrame& frame) {
  do
    if (!file_.next()) return false;
  while (split(file_.line()).empty());
  const std::int64_t line = file_.number(), atoms = atoms_here();
  if (!file_.next()) file_.fail("the file ends where a frame's comment line should be");
  frame = {};
  frame.line = line;
  read(atoms, frame);
  return true;
}

std::vector<ExtxyzReader::Place> ExtxyzReader::scan(std::int64_t stop_after) {
  std::vector<Place> frames;
  while (file_.next()) {
    if (split(file_.line()).empty()) continue;
    const std::int64_t atoms = atoms_here();
    frames.push_back({file_.mark(), atoms});
    if (!file_.skip(atoms + 1)) {
      frames.back().atoms = -atoms;
      break;
    }
    if (static_cast<std::int64_t>(frames.size()) == stop_after) break;
  }
  return frames;
}

ExtxyzFrame ExtxyzReader::at(std::int64_t frame) {
  const auto frames = scan(frame < 0 ? -1 : frame + 1);
  const std::int64_t count = std::ssize(frames);
  if (count == 0) throw InputError(fmt::format("{} holds no atoms", file_.path()));
  const std::int64_t chosen = frame < 0 ? count + frame : frame;
  if (chosen < 0 || chosen >= count)
    throw InputError(
        fmt::format("{} has no frame {}: it holds {} frame{}, numbered 0 to {} (or -1 to -{} from the end)",
                    file_.path(), frame, count, count == 1 ? "" : "s", count - 1, count));
  const Place& found = frames[chosen];
  if (found.atoms < 0)
    file_.fail(fmt::format("the file ends inside frame {}, which should hold {} atoms: it was cut short{}", chosen,
                           -found.atoms, chosen > 0 ? fmt::format("; frame {} is complete", chosen - 1) : ""));
  file_.go_to(found.mark);
  ExtxyzFrame out;
  out.line = found.mark.number;
  file_.next();
  read(found.atoms, out);
  return out;
}

void ExtxyzReader::read(std::int64_t atoms, ExtxyzFrame& frame) {
  frame.comment = ExtxyzComment(file_);
  frame.columns = ExtxyzColumns(file_, frame.comment, wanted_.force);
  read_cell(frame);
  const auto room = static_cast<std::size_t>(std::min(atoms, most_atoms_reserved));
  frame.type.reserve(room);
  frame.position.reserve(room);
  std::vector<std::string_view> words;
  for (std::int64_t n = 0; n < atoms; ++n) {
    if (!file_.next()) file_.fail(fmt::format("the file ends after {} of the frame's {} atoms", n, atoms));
    read_atom(frame, words);
  }
}

void ExtxyzReader::read_cell(ExtxyzFrame& frame) const {
  if (const auto* lattice = frame.comment.find(file_, "Lattice")) {
    const auto values = ExtxyzComment::numbers(file_, *lattice);
    if (values.size() != 9) file_.fail(fmt::format("Lattice holds {} values, not 9", values.size()));
    std::copy_n(values.begin(), 9, frame.lattice.emplace().begin());
  }
  frame.periodic.fill(frame.lattice.has_value());
  const auto* pbc = frame.comment.find(file_, "pbc");
  if (!pbc) return;
  frame.pbc = pbc->value;
  const auto values = ExtxyzComment::logicals(file_, *pbc);
  if (values.size() != 1 && values.size() != 3)
    file_.fail(fmt::format("pbc=\"{}\" holds {} values, not 3", *frame.pbc, values.size()));
  for (std::size_t k = 0; k < 3; ++k) frame.periodic[k] = values[values.size() == 1 ? 0 : k];
}

std::string_view ExtxyzReader::species_here(const ExtxyzFrame& frame,
                                            const std::vector<std::string_view>& words) const {
  const auto& columns = frame.columns;
  const auto word = [&](Role role) { return words[columns[role].first]; };
  if (!columns.has(Role::number)) return word(Role::species);
  const std::int64_t z = file_.integer(word(Role::number), columns[Role::number].name);
  const auto symbol = z > 0 && z < 1000 ? element_symbol(static_cast<int>(z)) : std::string_view();
  if (!columns.has(Role::species)) {
    if (symbol.empty()) file_.fail(fmt::format("there is no element {}", z));
    return symbol;
  }
  const int named = atomic_number(word(Role::species));
  if (named != 0 && named != z)
    file_.fail(fmt::format("the species is {}, but {} is {}: leave out the column that is wrong", word(Role::species),
                           columns[Role::number].name, z));
  return word(Role::species);
}

void ExtxyzReader::read_atom(ExtxyzFrame& frame, std::vector<std::string_view>& words) {
  const auto& columns = frame.columns;
  split(file_.line(), words);
  const int found = static_cast<int>(words.size());
  if (found < columns.count() || (found > columns.count() && columns.named()))
    file_.fail(fmt::format("expected {} columns ({}), found {}", columns.count(), columns.text(), found));
  frame.more_columns = frame.more_columns || found > columns.count();
  const auto vector = [&](Role role, std::string_view what, std::vector<std::array<double, 3>>& out) {
    if (!columns.has(role)) return;
    auto& x = out.emplace_back();
    for (std::size_t k = 0; k < 3; ++k)
      x[k] = file_.real(words[static_cast<std::size_t>(columns[role].first) + k], what);
  };
  frame.type.push_back(
      type_of_symbol(frame.species, frame.type.empty() ? -1 : frame.type.back(), species_here(frame, words)));
  vector(Role::position, "a position", frame.position);
  if (wanted_.forces) vector(Role::force, "a force", frame.force);
  if (wanted_.forces && wanted_.force.empty() && columns[Role::reference].first != columns[Role::force].first)
    vector(Role::reference, "a force", frame.reference);
  if (!wanted_.motion) return;
  if (columns.has(Role::mass)) frame.mass.push_back(file_.real(words[columns[Role::mass].first], "a mass"));
  if (columns.has(Role::charge)) frame.charge.push_back(file_.real(words[columns[Role::charge].first], "a charge"));
  vector(Role::velocity, "a velocity", frame.velocity);
  vector(Role::momentum, "a momentum", frame.momentum);
  vector(Role::unwrapped, "an unwrapped position", frame.unwrapped);
  vector(Role::travel, "a cell crossing", frame.travel);
  if (const auto& moves = columns[Role::moves]; moves.first >= 0)
    frame.held += std::any_of(words.begin() + moves.first, words.begin() + moves.first + moves.width, says_no);
  if (columns.has(Role::id)) frame.id.push_back(file_.integer(words[columns[Role::id].first], "an id"));
}

}  // namespace cambium::io
