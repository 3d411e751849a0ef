#include "plugins/superres/equations/field_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.hpp"
#include "core/base/tensor_ref.hpp"
#include "core/io/fields/task_axes.hpp"

namespace cambium::superres {
namespace {

/// "FILE#3": the file, and the index of a trajectory or section in it; -1 if there is none.
std::pair<std::string, std::int64_t> divided(const std::string& path) {
  const auto mark = path.rfind('#');
  if (mark == std::string::npos || mark + 1 == path.size()) return {path, -1};
  const auto digits = path.substr(mark + 1);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) || digits.size() > 9)
    return {path, -1};
  return {path.substr(0, mark), std::stoll(digits)};
}

std::vector<std::string> names_for(const std::string& name) {
  if (name == "p") return {"p", "pressure"};
  if (name == "b") return {"b", "buoyancy", "temperature", "T"};
  return {name};
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// A block of a dataset as values.
std::vector<double> block_of(const io::Dataset& set, const std::vector<std::int64_t>& start,
                             const std::vector<std::int64_t>& block) {
  TensorRef out;
  for (auto extent : block) out.shape[out.rank++] = extent;
  for (std::int64_t stride = 1, k = out.rank - 1; k >= 0; stride *= out.shape[k--]) out.stride[k] = stride;
  std::vector<double> values(out.elements());
  out.data = values.data();
  out.dtype = DType::f64;
  set.read_block(start, out);
  return values;
}

}  // namespace

FieldFile::FieldFile(const std::string& path, bool whole)
    : file_(io::File::open(divided(path).first)), path_(path),
      trajectory_(std::max<std::int64_t>(0, divided(path).second)) {
  well_ = file_.is_group("/t0_fields") && file_.is_group("/dimensions");
  if (!well_ && (!file_.is_group("/tasks") || !file_.is_group("/scales")))
    throw InputError(
        fmt::format("'{}' has no groups /tasks and /scales: expected fields by (t, x, z) as Dedalus and the output "
                    "'fields' write them, or /t0_fields and /dimensions of The Well; it holds: {}",
                    path, fmt::join(file_.list(), ", ")));
  spatial_ = !well_ && file_.exists("/scales/y") && file_.exists("/scales/z");
  if (!spatial_) return;
  section_ = divided(path).second;
  if (whole && section_ < 0) return;
  const auto places = std::ssize(coordinate_y());
  if (section_ < 0)
    throw InputError(
        fmt::format("'{0}' has fields in three dimensions, and these are read in two: '{0}#K' is the section at index "
                    "K of {1} along y, from 0",
                    path, places));
  if (section_ >= places)
    throw InputError(fmt::format("'{}' requests the section at index {} along y, but the file has {}, counted from 0",
                                 path, section_, places));
}

std::string FieldFile::name_of_axis(int axis) const {
  if (axis == 0) return well_ ? "time" : "sim_time";
  if (axis == 1) return "x";
  return well_ && !file_.exists("/dimensions/z") ? "y" : "z";
}

std::vector<double> FieldFile::coordinate(int axis) const { return read_coordinate(name_of_axis(axis)); }
std::vector<double> FieldFile::coordinate_y() const { return read_coordinate("y"); }

std::vector<double> FieldFile::read_coordinate(const std::string& name) const {
  const std::string folder = well_ ? "/dimensions" : "/scales";
  const io::Group scales = file_.group(folder);
  if (scales.exists(name) && !scales.is_group(name)) return scales.read<std::vector<double>>(name);
  if (scales.exists(name)) return scales.group(name).read<std::vector<double>>("1.0");
  for (const auto& candidate : scales.list())  // Dedalus 3
    if (candidate.starts_with(name + "_hash_")) return scales.read<std::vector<double>>(candidate);
  throw InputError(fmt::format("'{}' has no coordinate '{}' in {} (it has: {})", file_.file(), name, folder,
                               fmt::join(scales.list(), ", ")));
}

std::vector<std::string> FieldFile::fields() const {
  if (!well_) return file_.group("/tasks").list();
  auto out = file_.group("/t0_fields").list();
  if (file_.is_group("/t1_fields"))
    for (const auto& name : file_.group("/t1_fields").list()) out.push_back(name);
  return out;
}

/// Checks the axis names: with equal numbers of points along both axes an array by (t, z, x) would go unnoticed.
void FieldFile::require_order(const io::Dataset& set) const {
  std::vector<std::string> axes;
  if (well_) {
    const auto dimensions = file_.group("/dimensions");
    if (dimensions.has_attribute("spatial_dims")) axes = dimensions.attribute<std::vector<std::string>>("spatial_dims");
  } else {
    axes = io::axes_of_task(set);
    const std::ptrdiff_t count = spatial_ ? 3 : 2;
    if (std::ssize(axes) > count) axes.erase(axes.begin(), axes.end() - count);
  }
  std::vector<std::string> expected{name_of_axis(1), name_of_axis(2)};
  if (spatial_) expected.insert(expected.begin() + 1, "y");
  std::vector<std::string> turned(axes.rbegin(), axes.rend());
  if (turned == expected)
    throw InputError(fmt::format("'{}' of '{}' has the axes ({}), expected ({}); turn the array and its axes",
                                 set.path(), path_, fmt::join(axes, ", "), fmt::join(expected, ", ")));
}

FieldFile::Place FieldFile::find(const std::string& name) const {
  const std::string scalars = well_ ? "/t0_fields/" : "/tasks/", vectors = well_ ? "/t1_fields/" : "/tasks/";
  const int component_axis = well_ ? 4 : 1;
  const auto rank = [&](const std::string& path) {
    return file_.exists(path) ? file_.dataset(path).shape().size() : 0;
  };
  const std::size_t whole = well_ || spatial_ ? 4 : 3;  // t, or trajectory and t, and space
  for (const auto& known : names_for(name))
    if (rank(scalars + known) == whole) return {scalars + known, -1, 0};
  const std::string components = spatial_ ? "uvw" : "uw";
  if (const auto component = components.find(name); name.size() == 1 && component != std::string::npos)
    for (const auto& vector : {"u", "velocity"})
      if (rank(vectors + vector) == whole + 1)
        return {vectors + vector, component_axis, static_cast<std::int64_t>(component)};
  if (rank(scalars + name) > 0) return {scalars + name, -1, 0};  // of another shape, which the reader will report
  throw InputError(fmt::format("'{}' has no field '{}' (it has: {})", path_, name, fmt::join(fields(), ", ")));
}

void FieldFile::require_shape(const io::Dataset& set, const std::string& name,
                              const std::vector<std::int64_t>& expected) const {
  if (set.shape() != expected)
    throw InputError(fmt::format("field '{}' of '{}' has shape ({}), its coordinates require ({})", name, path_,
                                 fmt::join(set.shape(), ", "), fmt::join(expected, ", ")));
}

std::vector<double> FieldFile::read(const std::string& name, const std::array<std::int64_t, 3>& whole,
                                    std::int64_t first) const {
  const Place place = find(name);
  const auto set = file_.dataset(place.path);
  require_order(set);
  std::vector<std::int64_t> expected(whole.begin(), whole.end()), start{first, 0, 0},
      block{whole[0] - first, whole[1], whole[2]};
  if (spatial_) {
    expected.insert(expected.begin() + 2, std::ssize(coordinate_y()));
    start.insert(start.begin() + 2, section_);
    block.insert(block.begin() + 2, 1);
  }
  if (well_) {
    const auto there = set.shape().at(0);
    if (trajectory_ >= there)
      throw InputError(
          fmt::format("'{}' requests trajectory {}, but the file has {}, counted from 0", path_, trajectory_, there));
    expected.insert(expected.begin(), there);
    start.insert(start.begin(), trajectory_);
    block.insert(block.begin(), 1);
  }
  if (place.component_axis >= 0) {
    expected.insert(expected.begin() + place.component_axis, spatial_ ? 3 : 2);
    start.insert(start.begin() + place.component_axis, place.component);
    block.insert(block.begin() + place.component_axis, 1);
  }
  require_shape(set, name, expected);
  return block_of(set, start, block);
}

std::vector<double> FieldFile::planes(const std::string& name, const std::array<std::int64_t, 4>& extents,
                                      std::int64_t t, std::int64_t first, std::int64_t count) const {
  const Place place = find(name);
  const auto set = file_.dataset(place.path);
  require_order(set);
  std::vector<std::int64_t> expected(extents.begin(), extents.end()), start{t, 0, 0, first},
      block{1, extents[1], extents[2], count};
  if (place.component_axis >= 0) {
    expected.insert(expected.begin() + place.component_axis, 3);
    start.insert(start.begin() + place.component_axis, place.component);
    block.insert(block.begin() + place.component_axis, 1);
  }
  require_shape(set, name, expected);
  return block_of(set, start, block);
}

std::optional<bool> FieldFile::periodic() const {
  if (!well_) {
    const io::Group scales = file_.group("/scales");
    if (!scales.exists("x") || scales.is_group("x")) return {};
    const auto x = scales.dataset("x");
    if (!x.has_attribute("periodic")) return {};
    return x.attribute<int>("periodic") != 0;
  }
  if (!file_.is_group("/boundary_conditions")) return {};
  const auto conditions = file_.group("/boundary_conditions");
  for (const auto& name : conditions.list()) {
    if (!conditions.is_group(name)) continue;
    const auto one = conditions.group(name);
    if (!one.has_attribute("bc_type") || !one.has_attribute("associated_dims")) continue;
    if (one.attribute<std::vector<std::string>>("associated_dims") != std::vector<std::string>{name_of_axis(1)})
      continue;
    return in_small_letters(one.attribute<std::string>("bc_type")) == "periodic";
  }
  return {};
}

std::optional<double> FieldFile::number(const std::string& attribute) const {
  if (!file_.has_attribute(attribute)) return {};
  try {
    const auto values = file_.attribute<std::vector<double>>(attribute);
    return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
  } catch (const InputError&) {
    return {};
  }
}

std::optional<std::string> FieldFile::text(const std::string& attribute) const {
  if (!file_.has_attribute(attribute)) return {};
  try {
    return file_.attribute<std::string>(attribute);
  } catch (const InputError&) {
    return {};
  }
}

std::vector<FieldFile::Mask> FieldFile::masks() const {
  std::vector<Mask> out;
  if (!well_ && file_.exists("/tasks/mask"))
    out.push_back({"/tasks/mask", false, file_.dataset("/tasks/mask").shape().size() == 3, false});
  if (!well_ || !file_.is_group("/boundary_conditions")) return out;
  const auto conditions = file_.group("/boundary_conditions");
  for (const auto& name : conditions.list()) {
    if (!conditions.is_group(name)) continue;
    const auto one = conditions.group(name);
    if (!one.exists("mask") || !one.has_attribute("bc_type") || !one.has_attribute("associated_dims")) continue;
    const auto axes = one.attribute<std::vector<std::string>>("associated_dims");
    if (in_small_letters(one.attribute<std::string>("bc_type")) != "wall" || axes.size() != 2) continue;
    const auto varies = [&](const char* along) { return one.has_attribute(along) && one.attribute<int>(along) != 0; };
    out.push_back({"/boundary_conditions/" + name + "/mask", varies("sample_varying"), varies("time_varying"),
                   axes[0] != name_of_axis(1)});
  }
  return out;
}

void FieldFile::hide(const Mask& mask, const std::array<std::int64_t, 3>& whole, std::int64_t first,
                     std::vector<char>& out) const {
  const auto set = file_.dataset(mask.path);
  if (!well_) require_order(set);
  const auto shape = set.shape();
  const std::int64_t slow = mask.z_first ? whole[2] : whole[1], fast = mask.z_first ? whole[1] : whole[2];
  std::vector<std::int64_t> expected{slow, fast}, start{0, 0}, block = expected;
  if (mask.by_frame) {
    expected.insert(expected.begin(), whole[0]);
    start.insert(start.begin(), first);
    block.insert(block.begin(), whole[0] - first);
  }
  if (mask.by_trajectory) {
    expected.insert(expected.begin(), shape.empty() ? trajectory_ + 1 : std::max(shape[0], trajectory_ + 1));
    start.insert(start.begin(), trajectory_);
    block.insert(block.begin(), 1);
  }
  if (shape != expected)
    throw InputError(fmt::format("mask '{}' of '{}' has shape ({}), coordinates and attributes require ({})", mask.path,
                                 path_, fmt::join(shape, ", "), fmt::join(expected, ", ")));
  const auto values = block_of(set, start, block);
  for (std::int64_t t = 0, n = 0; t < whole[0] - first; ++t)
    for (std::int64_t x = 0; x < whole[1]; ++x)
      for (std::int64_t z = 0; z < whole[2]; ++z, ++n) {
        const std::int64_t at = (mask.by_frame ? t * slow * fast : 0) + (mask.z_first ? z * fast + x : x * fast + z);
        if (values[at] != 0.0) out[n] = 1;
      }
}

std::vector<char> FieldFile::hidden(const std::array<std::int64_t, 3>& whole, std::int64_t first) const {
  std::vector<char> out((whole[0] - first) * whole[1] * whole[2], 0);
  for (const auto& mask : masks()) hide(mask, whole, first, out);
  if (std::find(out.begin(), out.end(), 1) == out.end()) out.clear();
  return out;
}

}  // namespace cambium::superres
