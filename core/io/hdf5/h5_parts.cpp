#include "core/io/hdf5/h5_parts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.hpp"

namespace cambium::io::detail {
namespace fs = std::filesystem;
namespace {

constexpr int deepest = 16;  // virtual data sets whose parts are virtual

/// The first few of a list, and how many more there are.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  const auto shown = std::vector<std::string>(names.begin(), names.begin() + std::min(names.size(), most));
  return names.size() > most ? fmt::format("{} and {} more", fmt::join(shown, ", "), names.size() - most)
                             : fmt::format("{}", fmt::join(shown, ", "));
}

/// Splits a file or data set name of a mapping at the block number (%b); %% is a literal %.
std::vector<std::string> pieces_of(const std::string& name) {
  std::vector<std::string> pieces{""};
  for (std::size_t k = 0; k < name.size(); ++k) {
    const char next = k + 1 < name.size() ? name[k + 1] : '\0';
    if (name[k] == '%' && next == 'b')
      pieces.emplace_back(), ++k;
    else if (name[k] == '%' && next == '%')
      pieces.back() += '%', ++k;
    else
      pieces.back() += name[k];
  }
  return pieces;
}

std::string with_number(const std::vector<std::string>& pieces, std::uint64_t number) {
  return fmt::format("{}", fmt::join(pieces, std::to_string(number)));
}

/// The number of a block in a name with these pieces; none if the name does not match.
std::optional<std::uint64_t> number_in(const std::string& name, const std::vector<std::string>& pieces) {
  if (pieces.size() < 2 || !name.starts_with(pieces.front())) return {};
  std::size_t end = pieces.front().size();
  while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
  const std::string digits = name.substr(pieces.front().size(), end - pieces.front().size());
  if (digits.empty() || digits.size() > 18) return {};
  const std::uint64_t number = std::stoull(digits);
  return with_number(pieces, number) == name ? std::optional(number) : std::nullopt;
}

/// One mapping of a virtual data set.
struct Mapping {
  std::string file, set;
  Handle source, place;  ///< selections in the part and in the virtual data set
};

std::string text_of(hid_t properties, std::size_t k, decltype(&H5Pget_virtual_filename) get) {
  const ssize_t length = get(properties, k, nullptr, 0);
  std::string text(static_cast<std::size_t>(std::max<ssize_t>(length, 0)) + 1, '\0');
  get(properties, k, text.data(), text.size());
  text.resize(text.size() - 1);
  return text;
}

/// The parts of one virtual data set, searched in the same places as by HDF5.
class Parts {
 public:
  Parts(const Handle& set, const std::string& file, const std::string& path) : set_(set), file_(file), path_(path) {}

  void look_at(const Mapping& mapping) {
    const auto file = pieces_of(mapping.file), set = pieces_of(mapping.set);
    if (file.size() == 1 && set.size() == 1)
      look_at(file.front(), set.front(), mapping);
    else
      look_at_series(file, set, mapping);
  }

  void require_all() const {
    if (missing_.empty()) return;
    throw InputError(fmt::format(
        "'{}' in '{}' is a virtual data set, joined from {} parts, of which {} {} not there: {}; HDF5 would give its "
        "fill value for {} silently. Copy the parts to where the joined file names them (relative names count from its "
        "folder), name their folder in HDF5_VDS_PREFIX, or make one complete file where they are: h5repack -l CONTI",
        path_, file_, sets_.size(), missing_.size(), missing_.size() == 1 ? "is" : "are", some_of(missing_),
        missing_.size() == 1 ? "it" : "them"));
  }

 private:
  /// The file of a part, open; null if it does not exist. "." is the virtual file itself.
  const File* opened(const std::string& name) {
    const auto known = files_.find(name);
    if (known != files_.end()) return known->second ? &*known->second : nullptr;
    auto& slot = files_[name];
    const auto places =
        name == "." ? std::vector<std::string>{file_} : places_of_file(name, file_, std::getenv("HDF5_VDS_PREFIX"));
    for (const auto& place : places)
      if (struct stat status{}; stat(place.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
        require_opened_by_hdf5(place);
        slot.emplace(File::open(place));
        break;
      }
    return slot ? &*slot : nullptr;
  }

  /// HDF5 opens a part as the joined file is open, and takes one that it cannot open, because it is open in this
  /// process in another way, for missing.
  void require_opened_by_hdf5(const std::string& place) const {
    const Handle joined(H5Iget_file_id(set_.id())), access(H5Fget_access_plist(joined.id()));
    H5Pset_fclose_degree(access.id(), H5F_CLOSE_WEAK);
    const hid_t part = H5Fopen(place.c_str(), H5F_ACC_RDONLY, access.id());
    if (part < 0)
      throw InputError(
          fmt::format("'{}' in '{}' is a virtual data set, and HDF5 cannot open its part '{}': {}; it would give its "
                      "fill value for it silently. Put back a sound file, that nothing is writing",
                      path_, file_, place, cause()));
    H5Fclose(part);
  }

  void look_at(const std::string& name, const std::string& set, const Mapping& mapping) {
    const auto [known, fresh] = sets_.try_emplace({name, set});
    if (!fresh) {
      if (known->second) require_extent(*known->second, mapping);
      return;
    }
    const File* file = opened(name);
    if (file && file->exists(set) && !file->is_group(set)) {
      known->second.emplace(file->dataset(set));
      require_extent(*known->second, mapping);
    } else if (!file) {
      missing_.push_back(fmt::format("'{}'", name));
    } else {
      missing_.push_back(fmt::format("'{}' in '{}'", set, file->file()));
    }
  }

  /// HDF5 would pad a selection that exceeds the part. For "all of it" HDF5 stores no extent, but as many values are
  /// selected in the virtual data set.
  void require_extent(const Dataset& part, const Mapping& mapping) const {
    const auto shape = part.shape();
    if (H5Sget_select_type(mapping.source.id()) == H5S_SEL_ALL) {
      const hssize_t wanted = H5Sget_select_npoints(mapping.place.id());
      if (wanted >= 0 && static_cast<hsize_t>(wanted) != H5S_UNLIMITED && wanted != part.elements() &&
          pieces_of(mapping.file).size() == 1 && pieces_of(mapping.set).size() == 1)
        refuse_extent(part, std::to_string(wanted));
      H5Eclear2(H5E_DEFAULT);
      return;
    }
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_ndims(mapping.source.id());
    if (rank < 1 || H5Sget_select_bounds(mapping.source.id(), first, last) < 0) {  // one that grows with its part
      H5Eclear2(H5E_DEFAULT);
      return;
    }
    bool fits = static_cast<int>(shape.size()) == rank;
    for (int k = 0; fits && k < rank; ++k) fits = last[k] < static_cast<hsize_t>(shape[k]);
    std::vector<hsize_t> needed;
    for (int k = 0; k < rank; ++k) needed.push_back(last[k] + 1);
    if (!fits) refuse_extent(part, fmt::format("({})", fmt::join(needed, ", ")));
  }

  [[noreturn]] void refuse_extent(const Dataset& part, const std::string& needed) const {
    throw InputError(
        fmt::format("'{}' in '{}' is a virtual data set that needs {} values of '{}' in '{}', which has the shape "
                    "({}): that part is incomplete, or is another one; copy it again from its source",
                    path_, file_, needed, part.path(), part.file(), fmt::join(part.shape(), ", ")));
  }

  /// Numbers of the existing blocks, of files or of data sets in one file.
  std::set<std::uint64_t> numbers(const std::vector<std::string>& file, const std::vector<std::string>& set) {
    std::set<std::uint64_t> found;
    if (file.size() > 1) {
      const std::string first = with_number(file, 0);
      for (const auto& place : places_of_file(first, file_, std::getenv("HDF5_VDS_PREFIX"))) {
        std::error_code none;
        const auto wanted = last_component(file);
        for (const auto& entry : fs::directory_iterator(folder_of(place), none))
          if (const auto number = number_in(entry.path().filename().string(), wanted)) found.insert(*number);
        if (!found.empty()) break;
      }
      return found;
    }
    const File* one = opened(file.front());
    if (!one) return found;
    const std::string group = fs::path(with_number(set, 0)).parent_path().string();
    if (!group.empty() && group != "/" && !one->is_group(group)) return found;
    for (const auto& name : group.empty() || group == "/" ? one->list() : one->group(group).list())
      if (const auto number = number_in(name, last_component(set))) found.insert(*number);
    return found;
  }

  /// Pieces of the last component of a name.
  static std::vector<std::string> last_component(std::vector<std::string> pieces) {
    for (std::size_t k = pieces.size(); k-- > 0;) {
      const auto slash = pieces[k].rfind('/');
      if (slash == std::string::npos) continue;
      pieces[k].erase(0, slash + 1);
      pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(k));
      break;
    }
    return pieces;
  }

  /// HDF5 takes the blocks 0, 1, ... up to the first missing one, and sets the length of the data set accordingly.
  void look_at_series(const std::vector<std::string>& file, const std::vector<std::string>& set,
                      const Mapping& mapping) {
    const auto found = numbers(file, set);
    const std::uint64_t end = found.empty() ? 1 : *found.rbegin() + 1;
    constexpr std::uint64_t most = 1000000;
    for (std::uint64_t k = 0; k < std::min(end, most); ++k) look_at(with_number(file, k), with_number(set, k), mapping);
  }

  const Handle& set_;
  const std::string &file_, &path_;
  std::map<std::string, std::optional<File>> files_;
  std::map<std::pair<std::string, std::string>, std::optional<Dataset>> sets_;
  std::vector<std::string> missing_;
};

/// Number of virtual data sets on the way to the current one.
int& depth() {
  static thread_local int value = 0;
  return value;
}
struct Deeper {
  Deeper() { ++depth(); }
  ~Deeper() { --depth(); }
};

/// True if all parts of a virtual data set were found before, in a file that is still open (HDF5 gives each that is
/// opened a number of its own).
bool found_before(const Handle& set, bool now) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info1_t info;
#else
  H5O_info_t info;
#endif
  static std::set<std::pair<unsigned long, haddr_t>> known;
  if (H5Oget_info1(set.id(), &info) < 0) return false;
  if (now) known.insert({info.fileno, info.addr});
  return known.contains({info.fileno, info.addr});
}

void require_virtual(const Handle& set, hid_t properties, const std::string& file, const std::string& path) {
  if (depth() >= deepest)
    throw InputError(fmt::format("'{}' in '{}' is a virtual data set whose parts lead back to itself", path, file));
  const Deeper deeper;
  std::size_t count = 0;
  checked_status(H5Pget_virtual_count(properties, &count), "read the parts of", file, path);
  Parts parts(set, file, path);
  for (std::size_t k = 0; k < count; ++k)
    parts.look_at({text_of(properties, k, H5Pget_virtual_filename), text_of(properties, k, H5Pget_virtual_dsetname),
                   Handle(H5Pget_virtual_srcspace(properties, k)), Handle(H5Pget_virtual_vspace(properties, k))});
  parts.require_all();
}

}  // namespace

std::string folder_of(const std::string& file) {
  const auto folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::vector<std::string> places_of_file(const std::string& name, const std::string& file, const char* prefixes) {
  std::vector<std::string> out;
  const bool absolute = name.starts_with('/');
  if (absolute) out.push_back(name);
  const std::string rest = absolute ? fs::path(name).filename().string() : name;
  const std::string folder = folder_of(file);
  std::string all = prefixes ? prefixes : "";
  constexpr std::string_view origin = "${ORIGIN}";
  if (all.starts_with(origin))
    all = folder + all.substr(origin.size());  // once for the entire value, not for each
                                               // folder
  while (!all.empty()) {
    const auto end = all.find(':');
    const std::string prefix = all.substr(0, end);
    if (!prefix.empty()) out.push_back((fs::path(prefix) / rest).string());
    all = end == std::string::npos ? "" : all.substr(end + 1);
  }
  out.push_back((fs::path(folder) / rest).lexically_normal().string());
  out.push_back(rest);
  std::error_code none;  // a symbolic link to the joined file
  const auto real = fs::canonical(file, none);
  if (!none) out.push_back((real.parent_path() / rest).string());
  return out;
}

void require_files_of(const Handle& set, const std::string& file, const std::string& path) {
  const Handle properties(H5Dget_create_plist(set.id()));
  if (H5Pget_layout(properties.id()) == H5D_VIRTUAL && !found_before(set, false)) {
    require_virtual(set, properties.id(), file, path);
    found_before(set, true);
  }
  require_external(set, properties.id(), file, path);
}

void require_parts(const Handle& set, const std::string& file, const std::string& path) {
  require_files_of(set, file, path);
  const Handle properties(H5Dget_create_plist(set.id()));
  require_filters(set, properties.id(), file, path);
}

}  // namespace cambium::io::detail
