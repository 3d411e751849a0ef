#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/particles/structure.hpp"
#include "plugins/deepmd/data/extxyz_frames.hpp"

namespace cambium::deepmd {

/// What files of LAMMPS do not say by themselves.
struct LammpsKeys {
  std::vector<std::string> species;  ///< of the types 1, 2, ...
  std::string units;                 ///< style of units; empty: the file's, else metal
};

/// Labelled configurations to evaluate a model on: a system of DeePMD-kit (a folder, or a group of an HDF5 file), or an
/// extended XYZ file, whose frames may hold different atoms.
class LabelledData {
 public:
  /// Reads everything; also dumps of LAMMPS, whose forces (fx, fy, fz) are labels. InputError names the error and, if
  /// no frame of an XYZ file has a label, the names in the file that differ from those of `labels`.
  static LabelledData load(const std::string& path, const ExtxyzLabels& labels = {}, const LammpsKeys& lammps = {});

  /// The same, with or without labels; also POSCAR files of VASP and gen files of DFTB+, known by their names (POSCAR,
  /// CONTCAR, *.vasp, *.gen), and dumps and data files of LAMMPS, known by their first lines.
  static LabelledData load_positions(const std::string& path, const LammpsKeys& lammps = {});

  const std::string& path() const { return path_; }
  std::size_t frames() const { return system_ ? system_->frames() : frames_.size(); }
  const LabelledFrame& frame(std::size_t k) const { return system_ ? system_->frame(k) : frames_[k].frame; }
  /// Remarks of the reader on the names of labels, for the log.
  const std::vector<std::string>& remarks() const { return remarks_; }
  /// Species symbols of a frame as its source names them; own_types() are their indices by atom. Empty for a folder
  /// without type_map.raw.
  const std::vector<std::string>& species(std::size_t k) const {
    return system_ ? system_->type_map() : frames_[k].species;
  }
  const std::vector<int>& own_types(std::size_t k) const { return system_ ? system_->types(k) : frames_[k].types; }
  /// Types of a frame's atoms in the numbering of a model; InputError for a species that the model does not know.
  std::vector<int> types(std::size_t k, const std::vector<std::string>& type_map, const std::string& model) const;

 private:
  static LabelledData read(const std::string& path, const ExtxyzLabels& labels);
  void add(const Structure& structure, const std::vector<std::array<double, 3>>& force);
  std::string path_;
  std::optional<DataSystem> system_;
  std::vector<ExtxyzFrame> frames_;
  std::vector<std::string> remarks_;
};

}  // namespace cambium::deepmd
