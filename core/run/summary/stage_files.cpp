#include "core/run/summary/stage_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace cambium {

namespace fs = std::filesystem;

static std::map<std::int64_t, std::string> checkpoints(const std::string& folder) {
  std::map<std::int64_t, std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    long long step = 0;
    int end = 0;
    if (std::sscanf(name.c_str(), "restart.%lld.h5%n", &step, &end) == 1 && end == static_cast<int>(name.size()))
      found[step] = entry.path().string();
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
  std::error_code ignored;
  while (static_cast<int>(found.size()) > keep) {
    fs::remove(found.begin()->second, ignored);
    found.erase(found.begin());
  }
}

}  // namespace cambium
