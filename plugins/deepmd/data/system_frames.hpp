#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/deepmd/data/labelled_frame.hpp"
#include "plugins/deepmd/data/system_files.hpp"

namespace cambium::deepmd {

/// Frames of a system of DeePMD-kit's data, read when they are asked for: type.raw, type_map.raw, optionally nopbc, and
/// set.*/{coord, box, energy, force, virial, fparam, aparam}.npy, in a folder or in a group of an HDF5 file
/// (SystemFiles), with frames along the first axis and the other axes as they are or flattened. All frames have the
/// same atoms, except in systems of mixed type, where real_atom_types.npy has those of each frame
/// (-1: none, such rows are dropped). A frame
/// has the same bits in whatever runs the frames are read.
class SystemFrames {
 public:
  /// Reads shapes, no values; InputError names the file that is missing or has the wrong shape.
  explicit SystemFrames(const std::string& path);

  const std::string& folder() const { return folder_; }                   ///< path as given
  const std::vector<std::string>& type_map() const { return type_map_; }  ///< empty when the folder has none
  const std::vector<int>& types() const { return types_; }  ///< by atom, indices of type_map(); not of mixed systems
  bool mixed() const { return mixed_; }
  std::int64_t frames() const { return frames_; }
  /// Frames [first, first + count); InputError names file and frame of an invalid value. Opens the system if it is
  /// closed.
  std::vector<LabelledFrame> read(std::int64_t first, std::int64_t count);
  /// Range of the frames in the storage chunk of this one; of several arrays, that of the largest.
  std::pair<std::int64_t, std::int64_t> chunk_of(std::int64_t frame) const;
  std::int64_t most_fparam() const;                        ///< frame parameters of any frame
  std::int64_t most_aparam() const;                        ///< the same for all of its atoms
  std::int64_t bytes_read() const { return bytes_read_; }  ///< from storage so far
  bool is_open() const { return files_ != nullptr; }
  void close() { files_.reset(); }

 private:
  /// An array of a set: its name, the values of a frame, and frames in a chunk.
  struct Array {
    std::string name;
    std::int64_t width = 0, chunk = 1;
    bool there = false;
  };
  struct Set {
    std::string name;
    std::int64_t first = 0, frames = 0;
    Array coord, box, energy, force, virial, fparam, aparam, types;
  };
  struct Rows;
  struct Values;
  void add_set(const std::string& name);
  Array inspect(const std::string& name, std::int64_t frames, std::vector<std::int64_t> extents) const;
  Array inspect_coordinates(const std::string& name, std::int64_t& frames) const;
  const Set& set_of(std::int64_t frame) const;
  void read_set(const Set& set, std::int64_t first, std::int64_t count, std::vector<LabelledFrame>& out);
  Rows rows_of(const Set& set, const Array& array, std::int64_t first, std::int64_t count);
  LabelledFrame frame_of(const Set& set, const Values& values, std::int64_t k) const;

  std::string folder_;
  std::unique_ptr<SystemFiles> files_;
  std::vector<std::string> type_map_;
  std::vector<int> types_;
  bool mixed_ = false;
  std::vector<Set> sets_;
  std::int64_t frames_ = 0, bytes_read_ = 0;
};

}  // namespace cambium::deepmd
