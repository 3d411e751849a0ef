#include "plugins/superres/equations/field_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/tensor_ref.hpp"

namespace cambium::superres {
namespace {

/// "FILE#3": the file, and the number of a trajectory in it.
std::pair<std::string, std::int64_t> divided(const std::string& path) {
  const auto mark = path.rfind('#');
  if (mark == std::string::npos || mark + 1 == path.size()) return {path, 0};
  const auto digits = path.substr(mark + 1);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) || digits.size() > 9) return {path, 0};
  return {path.substr(0, mark), std::stoll(digits)};
}

std::vector<std::string> names_for(const std::string& name) {
  if (name == "p") return {"p", "pressure"};
  if (name == "b") return {"b", "buoyancy", "temperature", "T"};
  return {name};
}

}  // namespace

FieldFile::FieldFile(const std::string& path) : file_(io::File::open(divided(path).first)), path_(path), trajectory_(divided(path).second) {
  well_ = file_.is_group("/t0_fields") && file_.is_group("/dimensions");
  if (!well_ && (!file_.is_group("/tasks") || !file_.is_group("/scales")))
    throw InputError(fmt::format("'{}' has no groups /tasks and /scales: expected fields by (t, x, z) as Dedalus and the output "
                                 "'fields' write them, or /t0_fields and /dimensions of The Well; it holds: {}", path,
                                 fmt::join(file_.list(), ", ")));
}

std::string FieldFile::name_of_axis(int axis) const {
  if (axis == 0) return well_ ? "time" : "sim_time";
  if (axis == 1) return "x";
  return well_ && !file_.exists("/dimensions/z") ? "y" : "z";
}

std::vector<double> FieldFile::coordinate(int axis) const {
  const std::string name = name_of_axis(axis), folder = well_ ? "/dimensions" : "/scales";
  const io::Group scales = file_.group(folder);
  if (scales.exists(name) && !scales.is_group(name)) return scales.read<std::vector<double>>(name);
  if (scales.exists(name)) return scales.group(name).read<std::vector<double>>("1.0");
  for (const auto& candidate : scales.list())  // Dedalus 3
    if (candidate.starts_with(name + "_hash_")) return scales.read<std::vector<double>>(candidate);
  throw InputError(fmt::format("'{}' has no coordinate '{}' in {} (it has: {})", file_.file(), name, folder, fmt::join(scales.list(), ", ")));
}

std::vector<std::string> FieldFile::fields() const {
  if (!well_) return file_.group("/tasks").list();
  auto out = file_.group("/t0_fields").list();
  if (file_.is_group("/t1_fields"))
    for (const auto& name : file_.group("/t1_fields").list()) out.push_back(name);
  return out;
}

FieldFile::Place FieldFile::find(const std::string& name) const {
  const std::string scalars = well_ ? "/t0_fields/" : "/tasks/", vectors = well_ ? "/t1_fields/" : "/tasks/";
  const int component_axis = well_ ? 4 : 1;
  const auto rank = [&](const std::string& path) { return file_.exists(path) ? file_.dataset(path).shape().size() : 0; };
  for (const auto& known : names_for(name))
    if (rank(scalars + known) == (well_ ? 4u : 3u)) return {scalars + known, -1, 0};
  if (name == "u" || name == "w")
    for (const auto& vector : {"u", "velocity"})
      if (rank(vectors + vector) == (well_ ? 5u : 4u)) return {vectors + vector, component_axis, name == "u" ? 0 : 1};
  if (rank(scalars + name) > 0) return {scalars + name, -1, 0};  // of another shape, which the reader will say
  throw InputError(fmt::format("'{}' has no field '{}' (it has: {})", path_, name, fmt::join(fields(), ", ")));
}

std::vector<double> FieldFile::read(const std::string& name, const std::array<std::int64_t, 3>& whole, std::int64_t first) const {
  const Place place = find(name);
  const auto set = file_.dataset(place.path);
  std::vector<std::int64_t> expected(whole.begin(), whole.end()), start{first, 0, 0}, block{whole[0] - first, whole[1], whole[2]};
  if (well_) {
    const auto there = set.shape().at(0);
    if (trajectory_ >= there)
      throw InputError(fmt::format("'{}' asks for trajectory {}, but the file has {}, counted from 0", path_, trajectory_, there));
    expected.insert(expected.begin(), there), start.insert(start.begin(), trajectory_), block.insert(block.begin(), 1);
  }
  if (place.component_axis >= 0) {
    expected.insert(expected.begin() + place.component_axis, 2);
    start.insert(start.begin() + place.component_axis, place.component), block.insert(block.begin() + place.component_axis, 1);
  }
  if (set.shape() != expected)
    throw InputError(fmt::format("field '{}' of '{}' has shape ({}), its coordinates ask for ({})", name, path_, fmt::join(set.shape(), ", "),
                                 fmt::join(expected, ", ")));
  TensorRef out;
  for (auto extent : block) out.shape[out.rank++] = extent;
  for (std::int64_t stride = 1, k = out.rank - 1; k >= 0; stride *= out.shape[k--]) out.stride[k] = stride;
  std::vector<double> values(static_cast<std::size_t>(out.elements()));
  out.data = values.data();
  out.dtype = DType::f64;
  set.read_block(start, out);
  return values;
}

}  // namespace cambium::superres
