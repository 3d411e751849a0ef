#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/cf/decoding.hpp"
#include "core/io/fields/task_axes.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/pretrain/archive/simulations.hpp"

namespace cambium::pretrain {

namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const auto n : shape) out += (out.empty() ? "" : " x ") + std::to_string(n);
  return out;
}

void require_same(const Layout& first, const Layout& here, const std::string& first_file, const std::string& file) {
  if (first.shape != here.shape)
    throw InputError(
        fmt::format("'{}' has fields of {} cells, '{}' of {}; an archive has one shape: resample one of them", file,
                    shape_text(here.shape), first_file, shape_text(first.shape)));
  if (first.periodic != here.periodic)
    throw InputError(
        fmt::format("'{}' and '{}' differ in which axes are periodic; leave one of them out", file, first_file));
}

/// Reads missing values as NaN.
std::vector<float> numbers_of(const io::Dataset& set) {
  if (!io::cf::has_marks(set)) return set.read<std::vector<float>>();
  const auto meant = io::cf::decoded(set);
  return {meant.begin(), meant.end()};
}

void require_finite(const io::Dataset& set, const std::vector<float>& values, std::int64_t cells,
                    const std::string& file, const std::string& name) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad == values.end()) return;
  const auto at = static_cast<std::size_t>(bad - values.begin());
  if (const double x = set.read<std::vector<double>>()[at]; std::isfinite(x) && !std::isnan(*bad))
    throw InputError(fmt::format(
        "'{}': {} is {:g} in snapshot {}, beyond what single precision holds (3.4e38); write it in a larger unit", file,
        name, x, static_cast<std::int64_t>(at) / cells));
  throw InputError(
      fmt::format("'{}': {} is not finite in snapshot {}; leave the file out, or end before it with 'times'", file,
                  name, static_cast<std::int64_t>(at) / cells));
}

/// InputError if a time is NaN, or before the previous one.
void require_rising(const std::vector<double>& time, const std::string& file) {
  for (std::size_t m = 0; m < time.size(); ++m) {
    if (!std::isfinite(time[m]))
      throw InputError(fmt::format("'{}': /scales/sim_time is not finite in snapshot {}; fix the file", file, m));
    if (m > 0 && time[m] < time[m - 1])
      throw InputError(
          fmt::format("'{}': /scales/sim_time falls from {:g} to {:g} at snapshot {}; snapshots are read in the order "
                      "of their times: sort the file, or remove what was written twice",
                      file, time[m - 1], time[m], m));
  }
}

/// InputError if an array is empty.
void require_numbers(const std::vector<std::int64_t>& shape, const std::string& file, const std::string& name) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    throw InputError(
        fmt::format("'{}': {} is empty, its shape is {}; leave the file out", file, name, shape_text(shape)));
}

/// First and one past the last snapshot in the requested time range.
std::pair<std::size_t, std::size_t> wanted(const FieldSource& source, const std::vector<double>& time,
                                           const std::string& file) {
  if (!(source.last_time > source.first_time)) return {0, time.size()};
  const auto from = std::lower_bound(time.begin(), time.end(), source.first_time) - time.begin();
  const auto to = std::upper_bound(time.begin(), time.end(), source.last_time) - time.begin();
  if (from >= to)
    throw KeyError(
        "field_archive.times.range", "times",
        fmt::format("'{}' has no snapshot between {:g} and {:g}, its times go from {:g} to {:g}; change 'times'", file,
                    source.first_time, source.last_time, time.empty() ? 0.0 : time.front(),
                    time.empty() ? 0.0 : time.back()));
  return {static_cast<std::size_t>(from), static_cast<std::size_t>(to)};
}

/// Periodic axes, from the deck or from the file.
std::vector<std::int64_t> closing_axes(const FieldSource& source, const std::vector<std::int64_t>& shape,
                                       std::vector<std::int64_t> of_file, const std::string& path) {
  if (source.periodic.empty()) return of_file;
  for (const auto closes : source.periodic)
    if (closes != 0 && closes != 1)
      throw KeyError(
          "field_archive.periodic.value", "periodic",
          fmt::format("periodic is 1 for an axis that closes on itself and 0 for others, not {}; fix it", closes));
  if (source.periodic.size() != shape.size())
    throw KeyError("field_archive.periodic", "periodic",
                   fmt::format("periodic names {} axes, but the fields of '{}' have {}", source.periodic.size(), path,
                               shape.size()));
  return source.periodic;
}

std::vector<std::int64_t> periodic_axes(const io::File& file, std::size_t axes) {
  std::vector<std::int64_t> out(axes, 0);
  constexpr const char* names[] = {"x", "y", "z"};
  std::size_t axis = 0;
  for (const char* name : names) {
    const std::string path = std::string("/scales/") + name;
    if (axis == axes || !file.exists(path)) continue;
    const auto scale = file.dataset(path);
    if (scale.has_attribute("periodic")) out[axis] = scale.attribute<std::int64_t>("periodic") != 0;
    ++axis;
  }
  return out;
}

void read_tasks(const FieldSource& source, const std::string& path, Archive& out) {
  const auto file = io::File::open(path);
  Simulation simulation;
  simulation.source = path;
  const auto times = file.read<std::vector<double>>("/scales/sim_time");
  require_rising(times, path);
  const auto [from, to] = wanted(source, times, path);
  simulation.time.assign(times.begin() + static_cast<std::ptrdiff_t>(from),
                         times.begin() + static_cast<std::ptrdiff_t>(to));
  Layout layout{source.channels, {}, {}};
  const std::size_t channels = source.channels.size();
  for (std::size_t c = 0; c < channels; ++c) {
    const std::string name = "/tasks/" + source.channels[c];
    if (!file.exists(name)) {
      const auto has = file.is_group("/tasks") ? file.group("/tasks").list() : std::vector<std::string>{};
      throw KeyError("field_archive.fields", "fields",
                     fmt::format("'{}' has no field '{}'; it has: {}", path, source.channels[c], join(has)));
    }
    const auto set = file.dataset(name);
    io::axes_of_task(set);  // refuses coefficients
    auto shape = set.shape();
    if (shape.size() < 3 || shape.size() > 4)
      throw InputError(fmt::format("'{}': {} has {} axes; a time and two or three axes of space are read", path, name,
                                   shape.size()));
    if (shape[0] != std::ssize(times))
      throw InputError(
          fmt::format("'{}': {} has {} snapshots, but /scales/sim_time has {}; the file is cut short, or still being "
                      "written: leave it out",
                      path, name, shape[0], times.size()));
    require_numbers(shape, path, name);
    shape.erase(shape.begin());
    if (c == 0) {
      layout.shape = shape;
      layout.periodic = closing_axes(source, shape, periodic_axes(file, shape.size()), path);
    }
    if (shape != layout.shape)
      throw InputError(fmt::format("'{}': {} has {} cells, {} has {}", path, source.channels[c], shape_text(shape),
                                   source.channels.front(), shape_text(layout.shape)));
    const auto cells = layout.cells();
    const auto values = numbers_of(set);
    require_finite(set, values, cells, path, source.channels[c]);
    simulation.values.resize((to - from) * channels * static_cast<std::size_t>(cells));
    for (std::size_t t = from; t < to; ++t)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(t) * cells, cells,
                  simulation.values.begin() + static_cast<std::ptrdiff_t>((t - from) * channels + c) * cells);
  }
  if (!out.simulations.empty()) require_same(out.layout, layout, out.simulations.front().source, path);
  out.layout = layout;
  out.simulations.push_back(std::move(simulation));
}

void read_array(const FieldSource& source, const std::string& path, Archive& out) {
  const auto file = io::File::open(path);
  const auto set = file.dataset(source.array);
  const auto shape = set.shape();
  if (shape.size() < 4 || shape.size() > 5)
    throw InputError(fmt::format("'{}': {} has {} axes; simulations, snapshots and two or three axes of space are read",
                                 path, source.array, shape.size()));
  require_numbers(shape, path, source.array);
  Layout layout{{source.array}, {shape.begin() + 2, shape.end()}, {}};
  layout.periodic = closing_axes(source, layout.shape, std::vector<std::int64_t>(layout.shape.size(), 0), path);
  if (!out.simulations.empty()) require_same(out.layout, layout, out.simulations.front().source, path);
  out.layout = layout;
  const auto values = numbers_of(set);
  require_finite(set, values, layout.cells(), path, source.array);
  std::vector<double> time(shape[1]);
  for (std::size_t t = 0; t < time.size(); ++t) time[t] = static_cast<double>(t);
  const auto [from, to] = wanted(source, time, path);
  const auto frame = layout.cells();
  for (std::int64_t s = 0; s < shape[0]; ++s) {
    Simulation simulation;
    simulation.source = fmt::format("{}[{}]", path, s);
    simulation.time.assign(time.begin() + static_cast<std::ptrdiff_t>(from),
                           time.begin() + static_cast<std::ptrdiff_t>(to));
    const auto start = values.begin() + (s * shape[1] + static_cast<std::int64_t>(from)) * frame;
    simulation.values.assign(start, start + static_cast<std::ptrdiff_t>(to - from) * frame);
    out.simulations.push_back(std::move(simulation));
  }
}

}  // namespace

Archive read_fields(const FieldSource& source) {
  Archive out;
  for (const auto& file : source.files)
    if (source.array.empty())
      read_tasks(source, file, out);
    else
      read_array(source, file, out);
  return out;
}

}  // namespace cambium::pretrain
