#include "plugins/deepmd/data/system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/error.hpp"
#include "core/particles/right_handed.hpp"

namespace cambium::deepmd {

namespace {

std::vector<int> read_types(const SystemFiles& files) {
  std::vector<int> out;
  for (const auto& word : files.words("type.raw")) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out.emplace_back());
    if (error != std::errc() || end != word.data() + word.size())
      throw InputError(fmt::format("{}: the type of atom {} is '{}', which is no whole number",
                                   files.path_of("type.raw"), out.size() - 1, word));
  }
  return out;
}

/// True if an array of this shape holds data of these extents per frame: frames along the first axis, the other axes as
/// they are or flattened; or everything in one axis. Axes of length 1 do not matter. The frame axis is not merged with
/// others, as such a shape may also be that of a transposed array.
bool holds(std::vector<std::int64_t> shape, std::vector<std::int64_t> extents, std::int64_t frames) {
  for (auto* list : {&shape, &extents}) list->erase(std::remove(list->begin(), list->end(), 1), list->end());
  if (shape.size() <= 1) return true;  // the number of elements is known to be right
  if (frames != 1) {
    if (shape.front() != frames) return false;
    shape.erase(shape.begin());
  }
  std::size_t at = 0;
  for (const std::int64_t length : shape) {
    std::int64_t product = 1;
    while (at < extents.size() && product < length) product *= extents[at++];
    if (product != length) return false;
  }
  return at == extents.size();
}

void require_finite(const std::string& path, const io::NpyArray& array, std::int64_t frames) {
  const auto width =
      std::max<std::size_t>(1, array.values.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, frames)));
  for (std::size_t k = 0; k < array.values.size(); ++k)
    if (!std::isfinite(array.values[k]))
      throw InputError(fmt::format("{}: frame {}, value {} of {} is {}; remove the frame, or compute it again", path,
                                   k / width, k % width, width, array.values[k]));
}

/// Values of frames, by row.
struct FrameRows {
  std::vector<double> values;
  std::int64_t width = 0;
};

/// Reads an array of these extents per frame, of which the last may be 0, for any; nullopt if the file does not exist.
std::optional<FrameRows> read_rows(const SystemFiles& files, const std::string& name, std::int64_t frames,
                                   std::vector<std::int64_t> extents) {
  if (!files.has(name)) return {};
  const std::string path = files.path_of(name);
  io::NpyArray array = files.array(name);
  std::int64_t width = 1;
  for (const auto extent : extents)
    if (extent > 0) width *= extent;
  const auto count = static_cast<std::int64_t>(array.values.size());
  if (extents.back() == 0) {
    extents.back() = frames > 0 ? count / (frames * width) : 0;
    width *= extents.back();
  }
  if (count != frames * width || (count > 0 && !holds(array.shape, extents, frames)))
    throw InputError(fmt::format("{}: expected {} row(s) of {} value(s), found shape {}", path, frames, width,
                                 fmt::join(array.shape, " x ")));
  require_finite(path, array, frames);
  return FrameRows{std::move(array.values), width};
}

/// Reads coordinates, which determine the number of frames: (frames, 3 atoms), (frames, atoms, 3), or for one frame
/// without the first axis.
FrameRows read_coordinates(const SystemFiles& files, const std::string& name, std::int64_t atoms) {
  const std::string path = files.path_of(name);
  if (!files.has(name)) throw InputError(fmt::format("{}: does not exist", path));
  io::NpyArray array = files.array(name);
  const auto count = static_cast<std::int64_t>(array.values.size());
  const std::int64_t width = 3 * atoms, frames = width > 0 ? count / width : 0;
  if (count != frames * width || (count > 0 && !holds(array.shape, {atoms, 3}, frames)))
    throw InputError(fmt::format("{}: expected rows of {} value(s), those of {} atom(s), found shape {}", path, width,
                                 atoms, fmt::join(array.shape, " x ")));
  require_finite(path, array, frames);
  return {std::move(array.values), width};
}

std::vector<double> row(const std::optional<FrameRows>& rows, std::int64_t k) {
  if (!rows) return {};
  const double* first = rows->values.data() + k * rows->width;
  return {first, first + rows->width};
}

/// FrameRows of three, turned by q (x_new = x_old q).
std::vector<std::array<double, 3>> turned(const std::vector<double>& flat, const double q[3][3]) {
  std::vector<std::array<double, 3>> out(flat.size() / 3);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t r = 0; r < 3; ++r) out[i][k] += flat[3 * i + r] * q[r][k];
  return out;
}

std::vector<double> turned_tensor(const std::vector<double>& w, const double q[3][3]) {
  std::vector<double> out(w.size(), 0.0);
  for (std::size_t a = 0; a < 3 && !w.empty(); ++a)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t s = 0; s < 3; ++s) out[3 * a + b] += q[r][a] * w[3 * r + s] * q[s][b];
  return out;
}

/// Error hint for a folder or file of systems, all of which DeePMD-kit would read.
std::string systems_below(const SystemFiles& files) {
  std::vector<std::string> found = files.systems();
  if (found.empty()) return "";
  constexpr std::size_t most = 3;
  const bool more = found.size() > most;
  found.resize(std::min(found.size(), most));
  return fmt::format("; name the systems in it: [{}{}]", fmt::join(found, ", "), more ? ", ..." : "");
}

}  // namespace

DataSystem DataSystem::load(const std::string& path) {
  DataSystem system;
  system.folder_ = path;
  const auto files = SystemFiles::open(path);
  const char* const format = files->is_hdf5() ? "deepmd/hdf5" : "deepmd/npy";
  if (!files->has("type.raw"))
    throw InputError(fmt::format("{}: not a {} system: there is no type.raw{}", path, format, systems_below(*files)));
  system.types_ = read_types(*files);
  system.type_map_ = files->words("type_map.raw");
  if (system.types_.empty()) throw InputError(fmt::format("{}: holds no atom", files->path_of("type.raw")));
  const std::vector<std::string> sets = files->sets();
  if (sets.empty() && files->has("coord.raw"))
    throw InputError(
        fmt::format("{0}: a deepmd/raw system, expected deepmd/npy; dpdata converts it: dpdata.LabeledSystem(\"{0}\", "
                    "fmt=\"deepmd/raw\").to(\"deepmd/npy\", \"{0}\")",
                    path));
  if (sets.empty())
    throw InputError(
        fmt::format("{}: not a {} system: there is no {} set.*", path, format, files->is_hdf5() ? "group" : "folder"));
  // Either all sets are of mixed type or none; like DeePMD-kit, check the first one.
  const bool mixed = files->has(sets.front() + "/real_atom_types.npy");
  for (const std::string& set : sets) system.load_set(*files, set, mixed);
  return system;
}

/// Leaves out the rows of atoms that a frame of mixed type does not have.
static void drop_missing(LabelledFrame& frame, const std::string& path, std::int64_t k, std::size_t species) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < frame.types.size(); ++i) {
    if (frame.types[i] < -1 || (species > 0 && frame.types[i] >= static_cast<int>(species)))
      throw InputError(
          fmt::format("{}: frame {}, atom {} has type {}; expected {}, or -1 for an atom that the frame does "
                      "not have",
                      path, k, i, frame.types[i],
                      species > 0 ? fmt::format("those of type_map.raw, 0 to {}", species - 1)
                                  : std::string("a number from 0 up")));
    if (frame.types[i] >= 0) kept.push_back(i);
  }
  if (kept.empty()) throw InputError(fmt::format("{}: frame {} has no atom", path, k));
  if (kept.size() == frame.types.size()) return;
  const std::size_t all = frame.types.size(), each = frame.aparam.size() / all;
  LabelledFrame out = frame;
  out.types.clear();
  out.x.clear();
  out.force.clear();
  out.aparam.clear();
  for (const std::size_t i : kept) {
    out.types.push_back(frame.types[i]);
    out.x.push_back(frame.x[i]);
    if (!frame.force.empty()) out.force.push_back(frame.force[i]);
    for (std::size_t p = 0; p < each; ++p) out.aparam.push_back(frame.aparam[i * each + p]);
  }
  frame = std::move(out);
}

void DataSystem::load_set(const SystemFiles& files, const std::string& set, bool mixed) {
  const auto atoms = static_cast<std::int64_t>(types_.size());
  const std::optional<FrameRows> coord = read_coordinates(files, set + "/coord.npy", atoms);
  const std::int64_t n = static_cast<std::int64_t>(coord->values.size()) / coord->width;
  const auto rows = [&](const char* name, std::vector<std::int64_t> extents) {
    return read_rows(files, set + "/" + name + ".npy", n, std::move(extents));
  };
  const bool periodic = !files.has("nopbc");
  const auto box = periodic ? rows("box", {3, 3}) : std::nullopt;
  const std::string path_of_box = files.path_of(set + "/box.npy");
  if (periodic && !box)
    throw InputError(fmt::format("{}: does not exist; for isolated molecules put {} 'nopbc' into {}", path_of_box,
                                 files.is_hdf5() ? "a dataset" : "an empty file", folder_));
  const auto energy = rows("energy", {1}), force = rows("force", {atoms, 3}), virial = rows("virial", {3, 3});
  const auto fparam = rows("fparam", {0}), aparam = rows("aparam", {atoms, 0});
  const auto types = mixed ? rows("real_atom_types", {atoms}) : std::nullopt;
  const std::string path_of_types = files.path_of(set + "/real_atom_types.npy");
  if (mixed && !types)
    throw InputError(
        fmt::format("{}: does not exist, but other sets of {} have it: a system is of mixed type in all of its sets "
                    "or in none",
                    path_of_types, folder_));
  for (std::int64_t k = 0; k < n; ++k) {
    LabelledFrame frame;
    double q[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (box) {
      double vectors[3][3];
      const std::vector<double> h = row(box, k);
      for (std::size_t a = 0; a < 9; ++a) vectors[a / 3][a % 3] = h[a];
      make_right_handed(vectors);
      try {
        frame.box = Box::from_vectors(vectors, q);
        frame.axes = GivenAxes(q);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: frame {}: {}", path_of_box, k, error.what()));
      }
    }
    frame.x = turned(row(coord, k), q);
    if (energy) frame.energy = energy->values[k];
    frame.force = turned(row(force, k), q);
    frame.virial = turned_tensor(row(virial, k), q);
    frame.fparam = row(fparam, k);
    frame.aparam = row(aparam, k);
    for (const double type : row(types, k)) frame.types.push_back(static_cast<int>(type));
    if (mixed) drop_missing(frame, path_of_types, k, type_map_.size());
    frames_.push_back(std::move(frame));
  }
}

std::vector<int> model_types(const DataSystem& system, std::size_t frame, const std::vector<std::string>& type_map,
                             const std::string& model) {
  std::vector<int> out;
  for (int type : system.types(frame)) {
    if (system.type_map().empty() && type >= 0 && type < std::ssize(type_map)) {
      out.push_back(type);  // a folder without names uses the model's type indices
      continue;
    }
    if (type < 0 || type >= static_cast<int>(system.type_map().size()))
      throw InputError(fmt::format("{}/type.raw: type {} has no name; type_map.raw lists {}", system.folder(), type,
                                   fmt::join(system.type_map(), ", ")));
    const std::string& symbol = system.type_map()[type];
    const auto found = std::find(type_map.begin(), type_map.end(), symbol);
    if (found == type_map.end())
      throw InputError(fmt::format("species '{}' of {} is unknown to the model {}; its species: {}", symbol,
                                   system.folder(), model, fmt::join(type_map, ", ")));
    out.push_back(static_cast<int>(found - type_map.begin()));
  }
  return out;
}

}  // namespace cambium::deepmd
