#include "plugins/superres/equations/field_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/h5.hpp"

namespace cambium::superres {
namespace {

/// A coordinate under any of the names that Dedalus has given it.
std::vector<double> coordinate(const io::File& file, const std::string& name) {
  const io::Group scales = file.group("/scales");
  if (scales.exists(name) && !scales.is_group(name)) return scales.read<std::vector<double>>(name);
  if (scales.is_group(name)) return scales.group(name).read<std::vector<double>>("1.0");
  for (const auto& candidate : scales.list())
    if (candidate.starts_with(name + "_hash_")) return scales.read<std::vector<double>>(candidate);
  throw InputError(fmt::format("'{}' has no coordinate '{}' in /scales (it has: {})", file.file(), name,
                               fmt::join(scales.list(), ", ")));
}

void require_increasing(const std::vector<double>& values, const std::string& name, const std::string& file) {
  for (std::size_t k = 1; k < values.size(); ++k)
    if (!(values[k] > values[k - 1]))
      throw InputError(fmt::format("coordinate '{}' of '{}' does not increase after its entry {} ({})", name, file, k - 1, values[k - 1]));
}

void require_finite(const FieldData& data, std::size_t field) {
  const auto& v = data.values[field];
  const auto bad = std::find_if(v.begin(), v.end(), [](double x) { return !std::isfinite(x); });
  if (bad == v.end()) return;
  const auto index = static_cast<std::size_t>(bad - v.begin());
  throw InputError(fmt::format("field '{}' of '{}' is not finite at t = {:g}, x = {:g}, z = {:g}; leave that frame out or mask it",
                               data.names[field], data.file, data.axis[0][index / (data.nx() * data.nz())],
                               data.axis[1][index / data.nz() % data.nx()], data.axis[2][index % data.nz()]));
}

}  // namespace

FieldData read_fields(const std::string& path, const std::vector<std::string>& names, std::size_t frames, bool periodic) {
  const io::File file = io::File::open(path);
  if (!file.is_group("/tasks") || !file.is_group("/scales"))
    throw InputError(fmt::format("'{}' has no groups /tasks and /scales: expected fields by (t, x, z) as Dedalus and the output "
                                 "'fields' write them; it holds: {}", path, fmt::join(file.list(), ", ")));
  FieldData data;
  data.file = path;
  data.names = names;
  data.axis = {coordinate(file, "sim_time"), coordinate(file, "x"), coordinate(file, "z")};
  for (int a = 0; a < 3; ++a) require_increasing(data.axis[a], a == 0 ? "sim_time" : a == 1 ? "x" : "z", path);
  const auto all = static_cast<std::int64_t>(data.axis[0].size());
  const std::int64_t kept = std::min<std::int64_t>(all, static_cast<std::int64_t>(frames)), first = all - kept;
  const auto nx = static_cast<std::int64_t>(data.nx()), nz = static_cast<std::int64_t>(data.nz());
  data.axis[0].erase(data.axis[0].begin(), data.axis[0].begin() + first);
  const io::Group tasks = file.group("/tasks");
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!tasks.exists(names[k]))
      throw InputError(fmt::format("'{}' has no field '{}' (it has: {})", path, names[k], fmt::join(tasks.list(), ", ")));
    const auto set = tasks.dataset(names[k]);
    if (set.shape() != std::vector<std::int64_t>{all, nx, nz})
      throw InputError(fmt::format("field '{}' of '{}' has shape ({}), its coordinates ask for ({}, {}, {})", names[k], path,
                                   fmt::join(set.shape(), ", "), all, nx, nz));
    std::vector<double> values(static_cast<std::size_t>(kept * nx * nz));
    const std::int64_t start[3] = {first, 0, 0};
    data.values.push_back(std::move(values));
    TensorRef block = io::tensor_of(data.values.back().data(), {kept, nx, nz});
    block.is_const = false;
    set.read_block(start, block);
    require_finite(data, k);
  }
  const auto& x = data.axis[1];
  if (periodic && x.size() > 1) data.period = (x.back() - x.front()) * static_cast<double>(x.size()) / static_cast<double>(x.size() - 1);
  return data;
}

}  // namespace cambium::superres
