#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/particles/given_axes.hpp"
#include "plugins/deepmd/data/system_files.hpp"

namespace cambium::deepmd {

/// One labelled configuration; positions, forces and virial are rotated with the cell into Box's form, and back when
/// they are written.
struct LabelledFrame {
  std::vector<std::array<double, 3>> x;      ///< Å
  std::optional<Box> box;                    ///< absent: nothing is periodic
  GivenAxes axes = {};                       ///< in which everything was given
  std::optional<double> energy;              ///< eV
  std::vector<std::array<double, 3>> force;  ///< eV/Å, or empty
  std::vector<double> virial;                ///< eV, nine values or empty
  std::vector<double> fparam, aparam;        ///< empty when the system has none
  std::array<bool, 3> open = {};             ///< directions with vacuum wider than the interaction range
  std::vector<int> types;                    ///< of a frame of a system of mixed type; empty: those of the system
};

/// A system of DeePMD-kit's data: type.raw, type_map.raw, optionally nopbc, and set.*/{coord, box, energy, force,
/// virial, fparam, aparam}.npy, in a folder or in a group of an HDF5 file (SystemFiles), with frames along the first
/// axis and the other axes as they are or flattened. All frames have the same atoms, except in systems of mixed type,
/// where real_atom_types.npy has those of each frame
/// (-1: none, such rows are dropped).
class DataSystem {
 public:
  /// Reads everything; InputError names the file that is missing or has the wrong shape.
  static DataSystem load(const std::string& path);

  const std::string& folder() const { return folder_; }                   ///< path as given
  const std::vector<std::string>& type_map() const { return type_map_; }  ///< empty when the folder has none
  const std::vector<int>& types() const { return types_; }  ///< by atom, indices of type_map(); not of mixed systems
  /// For the atoms of a frame.
  const std::vector<int>& types(std::size_t k) const { return frames_[k].types.empty() ? types_ : frames_[k].types; }
  std::size_t frames() const { return frames_.size(); }
  const LabelledFrame& frame(std::size_t k) const { return frames_[k]; }

 private:
  void load_set(const SystemFiles& files, const std::string& set, bool mixed);
  std::string folder_;
  std::vector<std::string> type_map_;
  std::vector<int> types_;
  std::vector<LabelledFrame> frames_;
};

/// Types of a frame of a system in the numbering of a model; InputError for a species that the model does not know.
std::vector<int> model_types(const DataSystem& system, std::size_t frame, const std::vector<std::string>& type_map,
                             const std::string& model);

}  // namespace cambium::deepmd
