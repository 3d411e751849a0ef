#include "core/io/structures/extxyz_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cambium::io {

namespace {

using Role = ExtxyzRole;

struct KnownColumn {
  std::string_view name;
  Role role;
  int width;
};

/// By meaning, the preferred name of each first. The reader determines the units.
constexpr KnownColumn known_columns[] = {{"species", Role::species, 1},
                                         {"symbols", Role::species, 1},
                                         {"symbol", Role::species, 1},
                                         {"element", Role::species, 1},
                                         {"elements", Role::species, 1},
                                         {"Particle Type", Role::species, 1},
                                         {"Z", Role::number, 1},
                                         {"numbers", Role::number, 1},
                                         {"atomic_numbers", Role::number, 1},
                                         {"pos", Role::position, 3},
                                         {"positions", Role::position, 3},
                                         {"position", Role::position, 3},
                                         {"coords", Role::position, 3},
                                         {"velo", Role::velocity, 3},
                                         {"vel", Role::velocity, 3},
                                         {"velocities", Role::velocity, 3},
                                         {"velocity", Role::velocity, 3},
                                         {"vels", Role::velocity, 3},
                                         {"momenta", Role::momentum, 3},
                                         {"masses", Role::mass, 1},
                                         {"mass", Role::mass, 1},
                                         {"id", Role::id, 1},
                                         {"Particle Identifier", Role::id, 1},
                                         {"unwrapped_position", Role::unwrapped, 3},
                                         {"unwrapped_positions", Role::unwrapped, 3},
                                         {"travel", Role::travel, 3},
                                         {"charge", Role::charge, 1},
                                         {"charges", Role::charge, 1},
                                         {"initial_charges", Role::charge, 1},
                                         {"q", Role::charge, 1},
                                         {"move_mask", Role::moves, 1},
                                         {"move_mask", Role::moves, 3},
                                         {"REF_forces", Role::reference, 3},
                                         {"REF_force", Role::reference, 3}};

constexpr std::int64_t most_columns = 100000;

}  // namespace

struct ExtxyzColumns::Column {
  std::string name;
  char type;
  int first, width;
};

const std::vector<std::string>& extxyz_force_names() {
  static const std::vector<std::string> names = {"forces", "force", "REF_forces", "REF_force", "MACE_forces"};
  return names;
}

const std::vector<std::string>& extxyz_energy_names() {
  static const std::vector<std::string> names = {"energy", "REF_energy", "MACE_energy"};
  return names;
}

const std::vector<std::string>& extxyz_virial_names() {
  static const std::vector<std::string> names = {"virial", "virials", "REF_virial", "REF_virials"};
  return names;
}

const std::vector<std::string>& extxyz_stress_names() {
  static const std::vector<std::string> names = {"stress", "REF_stress", "MACE_stress"};
  return names;
}

const ExtxyzComment::Pair* first_of(const TextLines& file, const ExtxyzComment& comment,
                                    const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto* pair = comment.find(file, name);
    if (pair && !(pair->key == "Stress" && name != "Stress")) return pair;
  }
  return nullptr;
}

ExtxyzColumns::ExtxyzColumns(const TextLines& file, const ExtxyzComment& comment,
                             const std::vector<std::string>& force) {
  if (const auto* given = comment.find(file, "Properties")) {
    text_ = given->value;
    named_ = true;
  }
  choose(file, parse(file), force);
  if (!has(Role::position) || (!has(Role::species) && !has(Role::number)))
    file.fail(fmt::format("Properties={} lacks {}", text_, has(Role::position) ? "species:S:1 (or Z:I:1)" : "pos:R:3"));
}

std::vector<ExtxyzColumns::Column> ExtxyzColumns::parse(const TextLines& file) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text_.size();) {
    const std::size_t end = std::min(text_.find(':', at), text_.size());
    parts.push_back(text_.substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() % 3) file.fail(fmt::format("Properties={} is not a list of name:type:count", text_));
  std::vector<Column> out;
  for (std::size_t k = 0; k < parts.size(); k += 3) {
    const std::string &name = parts[k], &type = parts[k + 1];
    if (type.size() != 1 || std::string_view("SRILsril").find(type[0]) == std::string_view::npos)
      file.fail(fmt::format("Properties={}: {} is of type '{}', expected S, R, I or L", text_, name, type));
    const std::int64_t width = file.integer(parts[k + 2], fmt::format("the count of {}", name));
    if (width < 1 || width > most_columns)
      file.fail(fmt::format("Properties={}: {} has {} columns, expected 1 to {}", text_, name, width, most_columns));
    out.push_back({name, static_cast<char>(type[0] & ~0x20), count_, static_cast<int>(width)});
    names_.push_back(name);
    count_ += static_cast<int>(width);
    if (count_ > most_columns) file.fail(fmt::format("Properties={} has more than {} columns", text_, most_columns));
  }
  return out;
}

void ExtxyzColumns::choose(const TextLines& file, const std::vector<Column>& columns,
                           const std::vector<std::string>& force) {
  const auto take = [&](Role role, std::string_view name, int width) {
    Used& used = used_[static_cast<std::size_t>(role)];
    for (const bool exact : {true, false})
      for (const Column& c : columns) {
        if (used.first >= 0 || !(exact ? c.name == name : same_letters(c.name, name))) continue;
        if (role == Role::number && c.type != 'I') continue;  // a coordinate z
        if (c.width == width) {
          used = {c.first, c.width, c.name};
        } else if (role == Role::position || (role == Role::force && !force.empty())) {
          file.fail(fmt::format("Properties={}: {} has {} columns, expected {}", text_, c.name, c.width, width));
        }
      }
  };
  for (const KnownColumn& k : known_columns) take(k.role, k.name, k.width);
  for (const std::string& name : force.empty() ? extxyz_force_names() : force) take(Role::force, name, 3);
}

}  // namespace cambium::io
