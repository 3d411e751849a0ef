#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium {

/// Paths of all `restart.<step>.h5` in a folder, the latest step first.
std::vector<std::string> checkpoints_from_newest(const std::string& folder);
std::string checkpoint_name(std::int64_t step);
/// Removes the oldest checkpoints until `keep` are left.
void prune_checkpoints(const std::string& folder, int keep);

}  // namespace cambium
