#pragma once
#include <string>
#include <vector>

#include "plugins/deepmd/data/system_frames.hpp"

namespace cambium::deepmd {

/// All frames of a system (SystemFrames) in memory.
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
  std::string folder_;
  std::vector<std::string> type_map_;
  std::vector<int> types_;
  std::vector<LabelledFrame> frames_;
};

/// Types of a frame of a system in the numbering of a model; InputError for a species that the model does not know.
std::vector<int> model_types(const DataSystem& system, std::size_t frame, const std::vector<std::string>& type_map,
                             const std::string& model);
/// The same for atoms of these types, indices of `own`, of the system in a folder.
std::vector<int> model_types(const std::vector<int>& types, const std::vector<std::string>& own,
                             const std::string& folder, const std::vector<std::string>& type_map,
                             const std::string& model);

}  // namespace cambium::deepmd
