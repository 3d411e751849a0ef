#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/deepmd/data/system_array.hpp"

namespace cambium::deepmd {

/// Files of a system in one of DeePMD-kit's two formats: those of a folder (deepmd/npy), or the datasets of a group of
/// an HDF5 file (deepmd/hdf5), given as FILE#/GROUP, or FILE for the root. Names are the same in both: type.raw,
/// set.000/coord.npy.
class SystemFiles {
 public:
  /// InputError if the HDF5 file cannot be opened, or has no such group. A folder may be missing.
  static std::unique_ptr<SystemFiles> open(const std::string& path);
  virtual ~SystemFiles() = default;

  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const;  ///< of a file or dataset, for messages
  virtual bool is_hdf5() const = 0;

  virtual bool has(const std::string& name) const = 0;
  virtual std::vector<std::string> sets() const = 0;  ///< names that begin with "set.", sorted
  /// Words of type.raw and the like; empty if there is no such file. Numbers are written as text.
  virtual std::vector<std::string> words(const std::string& name) const = 0;
  virtual std::unique_ptr<SystemArray> array(const std::string& name) const = 0;
  /// Paths of the systems below this folder or group, at any depth, sorted; itself, if it is one.
  virtual std::vector<std::string> systems() const = 0;

 protected:
  explicit SystemFiles(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// True for a folder, an HDF5 file and a group in one.
bool is_system_path(const std::string& path);

/// SystemFiles::systems(), or the path itself if it holds none: for a list in which a folder or file may stand for all
/// of its systems, as in DeePMD-kit.
std::vector<std::string> systems_at(const std::string& path);

/// Finds systems and files that occur twice in a list, by the canonical paths of their files: data/a, ./data/a and a
/// link to it are one.
class SeenSystems {
 public:
  /// The earlier spelling of this path, if it was seen before; else it counts as seen.
  std::optional<std::string> before(const std::string& path);

 private:
  std::map<std::string, std::string> spelling_;  ///< by canonical path
};

}  // namespace cambium::deepmd
