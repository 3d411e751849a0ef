#include "plugins/deepmd/data/system_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/text_lines.hpp"

namespace cambium::deepmd {

namespace fs = std::filesystem;

namespace {

constexpr char separator = '#';  ///< between an HDF5 file and a group in it

bool begins_as_hdf5(const std::string& path) {
  const std::string signature = "\x89HDF\r\n\x1a\n";
  std::string start(signature.size(), ' ');
  std::ifstream in(path, std::ios::binary);
  return in.read(start.data(), static_cast<std::streamsize>(start.size())) && start == signature;
}

/// True if the part before the separator, or all of it, is a file that is read as HDF5.
bool names_hdf5(const std::string& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) return false;
  const auto at = path.find(separator);
  const std::string file = path.substr(0, at);
  return fs::is_regular_file(file, none) && (at != std::string::npos || begins_as_hdf5(file));
}

class FolderFiles : public SystemFiles {
 public:
  explicit FolderFiles(const std::string& path) : SystemFiles(path) {}
  bool is_hdf5() const override { return false; }
  bool has(const std::string& name) const override { return fs::exists(path_of(name)); }
  std::unique_ptr<SystemArray> array(const std::string& name) const override { return npy_array(path_of(name)); }

  std::vector<std::string> sets() const override {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(path_))
      if (const auto name = entry.path().filename().string(); entry.is_directory() && name.starts_with("set."))
        out.push_back(name);
    std::sort(out.begin(), out.end());
    return out;
  }

  /// As numpy.loadtxt reads them: the rest of a line after '#' is ignored.
  std::vector<std::string> words(const std::string& name) const override {
    std::ifstream in(path_of(name));
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);)
      for (const auto word : io::split(std::string_view(line).substr(0, line.find('#')))) out.emplace_back(word);
    return out;
  }

  std::vector<std::string> systems() const override {
    if (has("type.raw")) return {path_};
    std::vector<std::string> out;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(path_, none))
      if (entry.path().filename() == "type.raw") out.push_back(entry.path().parent_path().string());
    std::sort(out.begin(), out.end());
    return out;
  }
};

class Hdf5Files : public SystemFiles {
 public:
  explicit Hdf5Files(const std::string& path)
      : SystemFiles(path.find(separator) == std::string::npos ? path + "#/" : path),
        file_(io::File::open(path.substr(0, path.find(separator)), io::File::Reads::exact)), group_(opened()) {}
  bool is_hdf5() const override { return true; }
  bool has(const std::string& name) const override { return group_.exists(name); }

  std::vector<std::string> sets() const override {
    std::vector<std::string> out;
    for (const auto& name : group_.list())  // sorted
      if (name.starts_with("set.") && group_.is_group(name)) out.push_back(name);
    return out;
  }

  std::vector<std::string> words(const std::string& name) const override {
    if (!has(name)) return {};
    const io::Dataset dataset = group_.dataset(name);
    std::vector<std::string> out;
    if (dataset.is_text())
      for (const auto& text : dataset.read<std::vector<std::string>>())
        for (const auto word : io::split(text)) out.emplace_back(word);
    else
      for (const double value : dataset.read<std::vector<double>>()) out.push_back(fmt::format("{}", value));
    return out;
  }

  std::unique_ptr<SystemArray> array(const std::string& name) const override {
    return hdf5_array(group_.dataset(name));
  }

  std::vector<std::string> systems() const override {
    std::vector<std::string> out;
    add_systems(group_, out, 0);
    return out;
  }

 private:
  io::Group opened() const {
    const std::string name = path_.substr(path_.find(separator) + 1);
    if (name.empty() || name == "/") return file_.group("/");
    if (file_.is_group(name)) return file_.group(name);
    std::vector<std::string> found;
    add_systems(file_.group("/"), found, 0);
    throw InputError(
        fmt::format("{}: there is no group '{}'; the file holds {}", file_.file(), name,
                    found.empty() ? std::string("no system") : fmt::format("the systems {}", fmt::join(found, ", "))));
  }

  /// Links may lead back to a group, so that the depth has no end.
  void add_systems(const io::Group& group, std::vector<std::string>& out, int depth) const {
    constexpr int deepest = 16;
    if (group.exists("type.raw")) {
      out.push_back(file_.file() + separator + group.path());
      return;
    }
    if (depth == deepest) return;
    for (const auto& name : group.list())
      if (group.is_group(name)) add_systems(group.group(name), out, depth + 1);
  }

  io::File file_;
  io::Group group_;
};

}  // namespace

std::string SystemFiles::path_of(const std::string& name) const {
  return path_ + (path_.ends_with('/') ? "" : "/") + name;
}

std::unique_ptr<SystemFiles> SystemFiles::open(const std::string& path) {
  if (names_hdf5(path)) return std::make_unique<Hdf5Files>(path);
  return std::make_unique<FolderFiles>(path);
}

bool is_system_path(const std::string& path) {
  std::error_code none;
  return fs::is_directory(path, none) || names_hdf5(path);
}

std::vector<std::string> systems_at(const std::string& path) {
  auto out = SystemFiles::open(path)->systems();
  return out.empty() ? std::vector{path} : out;
}

std::optional<std::string> SeenSystems::before(const std::string& path) {
  std::error_code none;
  const auto at = fs::exists(path, none) ? std::string::npos : path.find(separator);
  const std::string file = fs::weakly_canonical(path.substr(0, at), none).string();
  // A path that ends with a slash has an empty last part.
  std::string id = file.ends_with('/') ? file.substr(0, file.size() - 1) : file;
  if (at != std::string::npos) id += separator + fs::path("/" + path.substr(at + 1)).lexically_normal().string();
  const auto [found, is_new] = spelling_.emplace(std::move(id), path);
  return is_new ? std::nullopt : std::optional(found->second);
}

}  // namespace cambium::deepmd
