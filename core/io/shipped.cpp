#include "core/io/shipped.hpp"

#include <algorithm>
#include <filesystem>

#include "core/parallel/agree.hpp"

namespace cambium {

namespace fs = std::filesystem;

std::string shared_folder(const std::string& name) {
  return (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "share/cambium" / name).string();
}

static std::string found_file(const std::string& given, const std::string& folder) {
  if (given.empty() || fs::exists(given) || given[0] == '/' || given[0] == '.') return given;
  for (const auto* suffix : {"", ".yaml"}) {
    const fs::path path = fs::path(shared_folder(folder)) / (given + suffix);
    if (fs::is_regular_file(path)) return path.string();
  }
  return given;
}

std::string shipped_file(const std::string& given, const std::string& folder, const Comm& comm) {
  std::string found;
  io::on_root(comm, [&] { found = found_file(given, folder); });
  comm.broadcast(found);
  return found;
}

std::vector<std::string> shipped_names(const std::string& folder) {
  std::vector<std::string> names;
  const fs::path root = shared_folder(folder);
  std::error_code none;
  for (const auto& file : fs::recursive_directory_iterator(root, fs::directory_options::follow_directory_symlink, none))
    if (file.path().extension() == ".yaml")
      names.push_back(fs::relative(file.path(), root).replace_extension().generic_string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cambium
