#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace cambium {

/// Newest `restart.<step>.h5` in a folder, if any.
std::optional<std::string> newest_checkpoint(const std::string& folder);
std::string checkpoint_name(std::int64_t step);
/// Removes the oldest checkpoints until `keep` are left.
void prune_checkpoints(const std::string& folder, int keep);

}  // namespace cambium
