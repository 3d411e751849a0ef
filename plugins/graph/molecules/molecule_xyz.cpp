#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/base/error.hpp"
#include "core/io/structures/extxyz_frames.hpp"
#include "core/particles/elements.hpp"
#include "plugins/graph/molecules/molecule.hpp"

namespace cambium::graph {

namespace {

/// Names of a label: the given one, or, if it is the default, those used by other programs.
std::vector<std::string> names_of_label(const std::string& given, const std::vector<std::string>& common) {
  return given == common.front() ? common : std::vector<std::string>{given};
}

/// Columns of a frame other than species, positions and forces.
void add_unread(const io::ExtxyzFrame& frame, std::set<std::string>& names) {
  using Role = io::ExtxyzRole;
  for (const auto& name : frame.columns.names()) {
    const auto is = [&](Role role) { return frame.columns.has(role) && frame.columns[role].name == name; };
    if (!is(Role::species) && !is(Role::number) && !is(Role::position) && !is(Role::force)) names.insert(name);
  }
}

Molecule molecule_of_frame(const io::ExtxyzReader& reader, const io::ExtxyzFrame& frame, const std::string& energy) {
  const auto& file = reader.file();
  const auto fail = [&](const std::string& text) { file.fail_at(frame.line + 1, text); };
  const auto* label = io::first_of(file, frame.comment, names_of_label(energy, io::extxyz_energy_names()));
  if (!label) fail(fmt::format("the comment has no {}=...; set energy: NAME to the name of the energy", energy));
  const auto values = io::ExtxyzComment::numbers(file, *label);
  if (values.size() != 1) fail(fmt::format("{} holds {} values, not 1", label->key, values.size()));
  Molecule out;
  out.energy = values[0];
  for (std::size_t k = 0; frame.lattice && k < 9; ++k)
    if (frame.periodic[k / 3]) out.cell[k] = (*frame.lattice)[k];
  std::vector<int> number;
  for (const std::string& symbol : frame.species) {
    number.push_back(atomic_number(symbol));
    if (number.back() != 0) continue;
    const auto first = std::find(frame.type.begin(), frame.type.end(), static_cast<int>(number.size()) - 1);
    file.fail_at(frame.line + 2 + (first - frame.type.begin()), fmt::format("'{}' is no element", symbol));
  }
  for (const int type : frame.type) out.species.push_back(number[type]);
  for (const auto& x : frame.position) out.position.insert(out.position.end(), x.begin(), x.end());
  for (const auto& f : frame.force) out.force.insert(out.force.end(), f.begin(), f.end());
  return out;
}

}  // namespace

MoleculeTable read_molecule_xyz(const std::string& path, const std::string& energy, const std::string& force) {
  const bool common = force == io::extxyz_force_names().front();
  io::ExtxyzReader reader(
      path, {.motion = false, .forces = true, .force = common ? std::vector<std::string>{} : std::vector{force}});
  MoleculeTable out;
  std::set<std::string> unread;
  for (io::ExtxyzFrame frame; reader.next(frame);) {
    out.molecules.push_back(molecule_of_frame(reader, frame, energy));
    require_sound(out.molecules.back(),
                  fmt::format("'{}', frame {} (line {})", path, out.molecules.size() - 1, frame.line));
    const bool forces = !out.molecules.back().force.empty();
    if (out.molecules.size() > 1 && forces != out.forces)
      reader.file().fail(fmt::format("this frame has {} column '{}', those before it have {}", forces ? "a" : "no",
                                     force, forces ? "none" : "it"));
    out.forces = forces;
    out.cells = out.cells || out.molecules.back().periodic();
    add_unread(frame, unread);
  }
  if (!unread.empty()) out.remarks.push_back(fmt::format("{}: columns not read: {}", path, fmt::join(unread, ", ")));
  if (out.molecules.empty()) throw InputError(fmt::format("'{}' holds no frame", path));
  return out;
}

}  // namespace cambium::graph
