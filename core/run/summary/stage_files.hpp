#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium {

/// Paths of all `restart.<step>.h5` in a folder, the latest step first.
std::vector<std::string> checkpoints_from_newest(const std::string& folder);
std::string checkpoint_name(std::int64_t step);
/// The step in the name of a checkpoint; -1 if there is none.
std::int64_t checkpoint_step(const std::string& path);
/// Removes the oldest checkpoints, with their rank files (core/io/share_files.hpp), until `keep` are left; and rank
/// files that no checkpoint lists.
void prune_checkpoints(const std::string& folder, int keep);

}  // namespace cambium
