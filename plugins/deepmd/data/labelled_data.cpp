#include "plugins/deepmd/data/labelled_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/structures/gen_reader.hpp"
#include "core/io/structures/lammps_data_reader.hpp"
#include "core/io/structures/lammps_dump_reader.hpp"
#include "core/io/structures/poscar_reader.hpp"
#include "core/io/text_lines.hpp"

namespace cambium::deepmd {

namespace {

bool has_label(const LabelledFrame& frame) { return frame.energy || !frame.force.empty() || !frame.virial.empty(); }

bool is_whole_number(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// True for a data file of LAMMPS: below its title a line with the number of atoms. An XYZ file begins with that
/// number.
bool is_lammps_data(const std::string& path) {
  constexpr int header = 100;  // lines
  std::ifstream in(path);
  std::string line;
  for (int k = 0; k < header && std::getline(in, line); ++k) {
    const auto words = io::split(std::string_view(line).substr(0, line.find('#')));
    if (k == 0 && words.size() == 1 && is_whole_number(words[0])) return false;
    if (k > 0 && words.size() == 2 && words[1] == "atoms" && is_whole_number(words[0])) return true;
  }
  return false;
}

/// True for files whose formats have no labels that are read.
bool holds_positions_only(const std::string& path) {
  return io::is_poscar_name(path) || path.ends_with(".gen") || (!path.ends_with("xyz") && is_lammps_data(path));
}

/// The frames of a file that is neither a system nor extended XYZ.
std::vector<io::LammpsDumpFrame> frames_of(const std::string& path, const LammpsKeys& lammps) {
  const Comm self(MPI_COMM_SELF);
  if (io::is_poscar_name(path)) return {{io::read_poscar(path, {}, self, false), {}}};
  if (path.ends_with(".gen")) return {{io::read_gen(path, self), {}}};
  if (io::is_lammps_dump(path)) return io::read_lammps_dump_frames(path, lammps.species, lammps.units);
  if (holds_positions_only(path)) return {{io::read_lammps_data(path, lammps.species, self, lammps.units), {}}};
  return {};
}

/// Atoms in the order of their ids.
std::vector<std::size_t> order_of(const Structure& structure) {
  std::vector<std::size_t> out(structure.x.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::sort(out.begin(), out.end(), [&](auto a, auto b) { return structure.tag[a] < structure.tag[b]; });
  return out;
}

}  // namespace

LabelledData LabelledData::read(const std::string& path, const ExtxyzLabels& labels) {
  namespace fs = std::filesystem;
  LabelledData out;
  out.path_ = path;
  if (is_system_path(path) || (!fs::is_regular_file(path) && !path.ends_with("xyz"))) {
    out.system_ = DataSystem::load(path);
    return out;
  }
  out.frames_ = read_extxyz_frames(path, labels);
  out.remarks_ = label_remarks(path, out.frames_);
  for (auto& doubt : label_doubts(path, out.frames_)) out.remarks_.push_back(std::move(doubt));
  if (out.frames_.empty()) throw InputError(fmt::format("{}: the file holds no frame", path));
  return out;
}

void LabelledData::add(const Structure& structure, const std::vector<std::array<double, 3>>& force) {
  auto& frame = frames_.emplace_back();
  for (const auto& one : structure.species) frame.species.push_back(one.symbol);
  for (const std::size_t i : order_of(structure)) {
    frame.types.push_back(structure.type[i]);
    frame.frame.x.push_back(structure.x[i]);
    if (!force.empty()) frame.frame.force.push_back(force[i]);
  }
  frame.frame.box = structure.box;
  frame.frame.axes = structure.axes;
  for (const auto* sentences : {&structure.remarks, &structure.warnings})
    for (const auto& sentence : *sentences)
      if (std::find(remarks_.begin(), remarks_.end(), sentence) == remarks_.end()) remarks_.push_back(sentence);
}

LabelledData LabelledData::load_positions(const std::string& path, const LammpsKeys& lammps) {
  const bool file = std::filesystem::is_regular_file(path) && !is_system_path(path);
  LabelledData out;
  out.path_ = path;
  if (file)
    for (const auto& [structure, force] : frames_of(path, lammps)) out.add(structure, force);
  if (!out.frames_.empty()) return out;
  try {
    return read(path, {"", "", "", ""});
  } catch (const InputError& error) {
    if (!file || path.ends_with("xyz")) throw;
    throw InputError(
        fmt::format("{}; the file was read as extended XYZ, as all are but *POSCAR*, *CONTCAR*, *.vasp, *.gen, and "
                    "files of LAMMPS; ASE converts others: ase.io.write(\"atoms.xyz\", ase.io.read(\"{}\"))",
                    error.what(), path));
  }
}

LabelledData LabelledData::load(const std::string& path, const ExtxyzLabels& labels, const LammpsKeys& lammps) {
  const bool file = std::filesystem::is_regular_file(path) && !is_system_path(path), dump = io::is_lammps_dump(path);
  LabelledData out = dump ? load_positions(path, lammps) : LabelledData();
  const auto labelled = [&] {
    return std::any_of(out.frames_.begin(), out.frames_.end(), [](const auto& f) { return has_label(f.frame); });
  };
  if (dump && labelled()) return out;
  if (dump || (file && holds_positions_only(path)))
    throw InputError(
        fmt::format("{}: the file has positions without energies and forces to compare with; ASE writes them into "
                    "extended XYZ: ase.io.write(\"labelled.xyz\", atoms)",
                    path));
  out = read(path, labels);
  if (out.system_ || labelled()) return out;
  const auto& others = out.frames_.front().unread;
  throw InputError(fmt::format("{}: no frame has a label: there is no key {}, {} or {}, and no column {}; {}", path,
                               labels.energy, labels.virial, labels.stress, labels.force,
                               others.empty()
                                   ? std::string("the file holds positions alone")
                                   : fmt::format("the file has {}: name its labels, as in labels: {{energy: {}}}",
                                                 fmt::join(others, ", "), others.front())));
}

std::vector<int> LabelledData::types(std::size_t k, const std::vector<std::string>& type_map,
                                     const std::string& model) const {
  if (system_) return model_types(*system_, k, type_map, model);
  std::vector<int> number;
  for (const std::string& symbol : frames_[k].species) {
    const auto found = std::find(type_map.begin(), type_map.end(), symbol);
    if (found == type_map.end())
      throw InputError(fmt::format("species '{}' of {}, frame {}, is unknown to the model {}; its species: {}", symbol,
                                   path_, k, model, fmt::join(type_map, ", ")));
    number.push_back(static_cast<int>(found - type_map.begin()));
  }
  std::vector<int> out;
  for (const int type : frames_[k].types) out.push_back(number[type]);
  return out;
}

}  // namespace cambium::deepmd
