#include "plugins/deepmd/data/system_frames.hpp"

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

/// Of the values of `frames` frames, of which the first has the number `first`.
void require_finite(const std::string& path, const std::vector<double>& values, std::int64_t frames,
                    std::int64_t first) {
  const auto width =
      std::max<std::size_t>(1, values.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, frames)));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      throw InputError(fmt::format("{}: frame {}, value {} of {} is {}; remove the frame, or compute it again", path,
                                   static_cast<std::size_t>(first) + k / width, k % width, width, values[k]));
}

/// Rows of three, turned by q (x_new = x_old q).
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

SystemFrames::SystemFrames(const std::string& path) : folder_(path), files_(SystemFiles::open(path)) {
  const SystemFiles& files = *files_;
  const char* const format = files.is_hdf5() ? "deepmd/hdf5" : "deepmd/npy";
  if (!files.has("type.raw"))
    throw InputError(fmt::format("{}: not a {} system: there is no type.raw{}", path, format, systems_below(files)));
  types_ = read_types(files);
  type_map_ = files.words("type_map.raw");
  if (types_.empty()) throw InputError(fmt::format("{}: holds no atom", files.path_of("type.raw")));
  const std::vector<std::string> sets = files.sets();
  if (sets.empty() && files.has("coord.raw"))
    throw InputError(
        fmt::format("{0}: a deepmd/raw system, expected deepmd/npy; dpdata converts it: dpdata.LabeledSystem(\"{0}\", "
                    "fmt=\"deepmd/raw\").to(\"deepmd/npy\", \"{0}\")",
                    path));
  if (sets.empty())
    throw InputError(
        fmt::format("{}: not a {} system: there is no {} set.*", path, format, files.is_hdf5() ? "group" : "folder"));
  // Either all sets are of mixed type or none; like DeePMD-kit, check the first one.
  mixed_ = files.has(sets.front() + "/real_atom_types.npy");
  for (const std::string& set : sets) add_set(set);
}

/// Inspects an array of these extents per frame, of which the last may be 0, for any.
SystemFrames::Array SystemFrames::inspect(const std::string& name, std::int64_t frames,
                                          std::vector<std::int64_t> extents) const {
  Array out{name};
  out.there = files_->has(name);
  if (!out.there) return out;
  const auto array = files_->array(name);
  out.width = 1;
  for (const auto extent : extents)
    if (extent > 0) out.width *= extent;
  const std::int64_t count = array->elements();
  if (extents.back() == 0) {
    extents.back() = frames > 0 ? count / (frames * out.width) : 0;
    out.width *= extents.back();
  }
  if (count != frames * out.width || (count > 0 && !holds(array->shape(), extents, frames)))
    throw InputError(fmt::format("{}: expected {} row(s) of {} value(s), found shape {}", files_->path_of(name), frames,
                                 out.width, fmt::join(array->shape(), " x ")));
  out.chunk = array->chunk_frames(frames);
  return out;
}

/// Inspects coordinates, which determine the number of frames: (frames, 3 atoms), (frames, atoms, 3), or for one frame
/// without the first axis.
SystemFrames::Array SystemFrames::inspect_coordinates(const std::string& name, std::int64_t& frames) const {
  const std::string path = files_->path_of(name);
  if (!files_->has(name)) throw InputError(fmt::format("{}: does not exist", path));
  const auto array = files_->array(name);
  const auto atoms = std::ssize(types_);
  const std::int64_t count = array->elements(), width = 3 * atoms;
  frames = count / width;
  if (count != frames * width || (count > 0 && !holds(array->shape(), {atoms, 3}, frames)))
    throw InputError(fmt::format("{}: expected rows of {} value(s), those of {} atom(s), found shape {}", path, width,
                                 atoms, fmt::join(array->shape(), " x ")));
  return {name, width, array->chunk_frames(frames), true};
}

void SystemFrames::add_set(const std::string& name) {
  const auto atoms = std::ssize(types_);
  Set set;
  set.name = name;
  set.first = frames_;
  set.coord = inspect_coordinates(name + "/coord.npy", set.frames);
  const auto array = [&](const char* file, std::vector<std::int64_t> extents) {
    return inspect(name + "/" + file + ".npy", set.frames, std::move(extents));
  };
  const bool periodic = !files_->has("nopbc");
  if (periodic) set.box = array("box", {3, 3});
  if (periodic && !set.box.there)
    throw InputError(fmt::format("{}: does not exist; for isolated molecules put {} 'nopbc' into {}",
                                 files_->path_of(set.box.name), files_->is_hdf5() ? "a dataset" : "an empty file",
                                 folder_));
  set.energy = array("energy", {1});
  set.force = array("force", {atoms, 3});
  set.virial = array("virial", {3, 3});
  set.fparam = array("fparam", {0});
  set.aparam = array("aparam", {atoms, 0});
  if (mixed_) set.types = array("real_atom_types", {atoms});
  if (mixed_ && !set.types.there)
    throw InputError(
        fmt::format("{}: does not exist, but other sets of {} have it: a system is of mixed type in all of its sets "
                    "or in none",
                    files_->path_of(set.types.name), folder_));
  frames_ += set.frames;
  sets_.push_back(std::move(set));
}

const SystemFrames::Set& SystemFrames::set_of(std::int64_t frame) const {
  if (frame < 0 || frame >= frames_) throw InternalError("a frame beyond the end of a system");
  return *std::find_if(sets_.begin(), sets_.end(), [&](const Set& set) { return frame < set.first + set.frames; });
}

std::pair<std::int64_t, std::int64_t> SystemFrames::chunk_of(std::int64_t frame) const {
  const Set& set = set_of(frame);
  const Array* largest = &set.coord;
  for (const Array* array : {&set.force, &set.aparam})
    if (array->width > largest->width || (array->width == largest->width && array->chunk > largest->chunk))
      largest = array;
  const std::int64_t begin = (frame - set.first) / largest->chunk * largest->chunk;
  return {set.first + begin, set.first + std::min(begin + largest->chunk, set.frames)};
}

std::int64_t SystemFrames::most_fparam() const {
  std::int64_t most = 0;
  for (const Set& set : sets_) most = std::max(most, set.fparam.width);
  return most;
}

std::int64_t SystemFrames::most_aparam() const {
  std::int64_t most = 0;
  for (const Set& set : sets_) most = std::max(most, set.aparam.width);
  return most;
}

/// Values of some frames of an array; none if it does not exist.
struct SystemFrames::Rows {
  std::vector<double> values;
  std::int64_t width = 0;
  bool there = false;
  std::vector<double> row(std::int64_t k) const {
    return {values.begin() + k * width, values.begin() + (k + 1) * width};
  }
};

/// Those of all arrays of a set.
struct SystemFrames::Values {
  std::int64_t first = 0;  ///< number of the first frame in the set
  Rows coord, box, energy, force, virial, fparam, aparam, types;
};

SystemFrames::Rows SystemFrames::rows_of(const Set& set, const Array& array, std::int64_t first, std::int64_t count) {
  if (!array.there) return {};
  const auto stored = files_->array(array.name);
  if (stored->elements() != set.frames * array.width)
    throw InputError(fmt::format("{}: has changed since the data set was opened; do not write to it during a training",
                                 files_->path_of(array.name)));
  Rows out{stored->read(set.frames, first, count), array.width, true};
  bytes_read_ += stored->stored_bytes(set.frames, first, count);
  require_finite(files_->path_of(array.name), out.values, count, first);
  return out;
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

/// Frame k of those that were read.
LabelledFrame SystemFrames::frame_of(const Set& set, const Values& values, std::int64_t k) const {
  LabelledFrame frame;
  double q[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (values.box.there) {
    double vectors[3][3];
    const std::vector<double> h = values.box.row(k);
    for (std::size_t a = 0; a < 9; ++a) vectors[a / 3][a % 3] = h[a];
    make_right_handed(vectors);
    try {
      frame.box = Box::from_vectors(vectors, q);
      frame.axes = GivenAxes(q);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: frame {}: {}", files_->path_of(set.box.name), values.first + k, error.what()));
    }
  }
  frame.x = turned(values.coord.row(k), q);
  if (values.energy.there) frame.energy = values.energy.values[static_cast<std::size_t>(k)];
  frame.force = turned(values.force.row(k), q);
  frame.virial = turned_tensor(values.virial.row(k), q);
  frame.fparam = values.fparam.row(k);
  frame.aparam = values.aparam.row(k);
  for (const double type : values.types.row(k)) frame.types.push_back(static_cast<int>(type));
  if (mixed_) drop_missing(frame, files_->path_of(set.types.name), values.first + k, type_map_.size());
  return frame;
}

void SystemFrames::read_set(const Set& set, std::int64_t first, std::int64_t count, std::vector<LabelledFrame>& out) {
  const auto rows = [&](const Array& array) { return rows_of(set, array, first, count); };
  const Values values{first,           rows(set.coord),  rows(set.box),    rows(set.energy),
                      rows(set.force), rows(set.virial), rows(set.fparam), rows(set.aparam),
                      rows(set.types)};
  for (std::int64_t k = 0; k < count; ++k) out.push_back(frame_of(set, values, k));
}

std::vector<LabelledFrame> SystemFrames::read(std::int64_t first, std::int64_t count) {
  if (!files_) files_ = SystemFiles::open(folder_);
  std::vector<LabelledFrame> out;
  out.reserve(static_cast<std::size_t>(count));
  for (const std::int64_t end = first + count; first < end;) {
    const Set& set = set_of(first);
    const std::int64_t here = std::min(end, set.first + set.frames) - first;
    read_set(set, first - set.first, here, out);
    first += here;
  }
  return out;
}

}  // namespace cambium::deepmd
