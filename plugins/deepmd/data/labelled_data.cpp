#include "plugins/deepmd/data/labelled_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/structures/gen_reader.hpp"
#include "core/io/structures/poscar_reader.hpp"

namespace cambium::deepmd {

namespace {

bool has_label(const LabelledFrame& frame) { return frame.energy || !frame.force.empty() || !frame.virial.empty(); }

}  // namespace

LabelledData LabelledData::read(const std::string& path, const ExtxyzLabels& labels) {
  namespace fs = std::filesystem;
  LabelledData out;
  out.path_ = path;
  if (!fs::is_regular_file(path) && !path.ends_with("xyz")) {
    out.system_ = DataSystem::load(path);
    return out;
  }
  out.frames_ = read_extxyz_frames(path, labels);
  out.remarks_ = label_remarks(path, out.frames_);
  for (auto& doubt : label_doubts(path, out.frames_)) out.remarks_.push_back(std::move(doubt));
  if (out.frames_.empty()) throw InputError(fmt::format("{}: the file holds no frame", path));
  return out;
}

LabelledData LabelledData::of_structure(const std::string& path, const Structure& structure) {
  LabelledData out;
  out.path_ = path;
  auto& frame = out.frames_.emplace_back();
  for (const auto& one : structure.species) frame.species.push_back(one.symbol);
  frame.types = structure.type;
  frame.frame.x = structure.x;
  frame.frame.box = structure.box;
  frame.frame.axes = structure.axes;
  for (const auto* sentences : {&structure.remarks, &structure.warnings})
    out.remarks_.insert(out.remarks_.end(), sentences->begin(), sentences->end());
  return out;
}

LabelledData LabelledData::load_positions(const std::string& path) {
  const bool file = std::filesystem::is_regular_file(path);
  if (file && io::is_poscar_name(path))
    return of_structure(path, io::read_poscar(path, {}, Comm(MPI_COMM_SELF), false));
  if (file && path.ends_with(".gen")) return of_structure(path, io::read_gen(path, Comm(MPI_COMM_SELF)));
  try {
    return read(path, {"", "", "", ""});
  } catch (const InputError& error) {
    if (!file || path.ends_with("xyz")) throw;
    throw InputError(
        fmt::format("{}; the file was read as extended XYZ, as all are but *POSCAR*, *CONTCAR*, *.vasp and *.gen; ASE "
                    "converts others: ase.io.write(\"atoms.xyz\", ase.io.read(\"{}\"))",
                    error.what(), path));
  }
}

LabelledData LabelledData::load(const std::string& path, const ExtxyzLabels& labels) {
  LabelledData out = read(path, labels);
  if (out.system_) return out;
  if (std::any_of(out.frames_.begin(), out.frames_.end(), [](const auto& f) { return has_label(f.frame); })) return out;
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
      throw InputError(fmt::format("species '{}' of {}, frame {}, is not known to the model {}; it knows: {}", symbol,
                                   path_, k, model, fmt::join(type_map, ", ")));
    number.push_back(static_cast<int>(found - type_map.begin()));
  }
  std::vector<int> out;
  for (const int type : frames_[k].types) out.push_back(number[type]);
  return out;
}

}  // namespace cambium::deepmd
