#include "plugins/graph/tasks/model_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "core/base/key_error.hpp"

namespace cambium::graph {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& path) {
  std::vector<fs::path> found{fs::path(path).is_absolute() ? "/" : ""};
  for (const auto& part : fs::path(path).relative_path()) {
    const std::string name = part.string();
    const auto star = name.find('*');
    std::vector<fs::path> next;
    for (const auto& folder : found) {
      if (star == std::string::npos) {
        next.push_back(folder / part);
        continue;
      }
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, none)) {
        const std::string other = entry.path().filename().string();
        if (other.size() + 1 >= name.size() && other.starts_with(name.substr(0, star)) &&
            other.ends_with(name.substr(star + 1)))
          next.push_back(folder / other);
      }
    }
    found = std::move(next);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (const auto& file : found) out.push_back(file.string());
  if (out.empty()) throw KeyError("models.none", "models", fmt::format("models: no file is named '{}'", path));
  return out;
}

std::string stage_of(const std::string& path) {
  fs::path folder = fs::path(path).parent_path();
  while (folder.filename().string().find('*') != std::string::npos) folder = folder.parent_path();
  return folder.filename().string();
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double x : values) sum += (x - mean(values)) * (x - mean(values));
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace cambium::graph
