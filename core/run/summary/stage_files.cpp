#include "core/run/summary/stage_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/io/share_files.hpp"

namespace cambium {

namespace fs = std::filesystem;

std::int64_t checkpoint_step(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  long long step = 0;
  int end = 0;
  const bool found = std::sscanf(name.c_str(), "restart.%lld.h5%n", &step, &end) == 1;
  return found && end == static_cast<int>(name.size()) ? step : -1;
}

static std::map<std::int64_t, std::string> checkpoints(const std::string& folder) {
  std::map<std::int64_t, std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (const auto step = checkpoint_step(entry.path().string()); step >= 0) found[step] = entry.path().string();
  }
  return found;
}

std::vector<std::string> checkpoints_from_newest(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& [step, path] : checkpoints(folder)) out.insert(out.begin(), path);
  return out;
}

std::string checkpoint_name(std::int64_t step) { return fmt::format("restart.{}.h5", step); }

void prune_checkpoints(const std::string& folder, int keep) {
  auto found = checkpoints(folder);
  while (static_cast<int>(found.size()) > keep) {
    io::remove_with_shares(found.begin()->second);
    found.erase(found.begin());
  }
  io::remove_stray_shares(folder);
}

}  // namespace cambium
