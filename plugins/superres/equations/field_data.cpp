#include "plugins/superres/equations/field_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/superres/equations/field_file.hpp"
#include "plugins/superres/equations/mask.hpp"

namespace cambium::superres {
namespace {

void require_increasing(const std::vector<double>& values, const std::string& name, const std::string& file) {
  for (std::size_t k = 1; k < values.size(); ++k)
    if (!(values[k] > values[k - 1]))
      throw InputError(fmt::format("coordinate '{}' of '{}' does not increase after its entry {} ({})", name, file,
                                   k - 1, values[k - 1]));
}

void require_finite(const FieldData& data, std::size_t field) {
  const auto& v = data.values[field];
  std::size_t index = 0;
  while (index < v.size() && (std::isfinite(v[index]) || (!data.hidden.empty() && data.hidden[index]))) ++index;
  if (index == v.size()) return;
  throw InputError(
      fmt::format("field '{}' of '{}' is not finite at t = {:g}, x = {:g}, z = {:g}; leave that frame out or mask it",
                  data.names[field], data.file, data.axis[0][index / (data.nx() * data.nz())],
                  data.axis[1][index / data.nz() % data.nx()], data.axis[2][index % data.nz()]));
}

bool equally_spaced(const std::vector<double>& x) {
  const double step = (x.back() - x.front()) / static_cast<double>(x.size() - 1);
  for (std::size_t k = 1; k < x.size(); ++k)
    if (std::fabs(x[k] - x[k - 1] - step) > 1e-3 * step) return false;  // coordinates may be in single precision
  return true;
}

/// Sum of squared differences between point i and the next one along x, including from the last to the first one.
std::vector<double> squared_differences(const FieldData& data, std::size_t field) {
  const std::size_t nx = data.nx(), nz = data.nz();
  std::vector<double> out(nx, 0.0);
  for (std::size_t t = 0; t < data.axis[0].size(); ++t)
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t k = 0; k < nz; ++k) {
        const std::size_t next = (i + 1) % nx;
        if (data.is_hidden(t, i, k) || data.is_hidden(t, next, k)) continue;
        const double d = data.at(field, t, next, k) - data.at(field, t, i, k);
        out[i] += d * d;
      }
  return out;
}

/// True if the last points along x are as close to the first ones as neighbours are to each other: at most twice their
/// largest distance in any field. The walls of a cavity differ by the whole flow between them.
bool ends_meet(const FieldData& data) {
  if (data.nx() < 4) return true;  // too few to decide
  for (std::size_t f = 0; f < data.values.size(); ++f) {
    auto squares = squared_differences(data, f);
    const double around = squares.back();
    squares.pop_back();
    if (around > 4.0 * *std::max_element(squares.begin(), squares.end())) return false;
  }
  return true;
}

void find_period(FieldData& data, std::optional<bool> asked, std::optional<bool> told) {
  const auto& x = data.axis[1];
  if (x.size() < 2) return;
  const auto words = [](bool periodic) { return periodic ? "periodic" : "ending at walls"; };
  if (asked && told && *asked != *told)
    throw InputError(fmt::format(
        "x of '{}' is {} in the file, and is requested as {}: leave out 'periodic', or take fields of another domain",
        data.file, words(*told), words(*asked)));
  const bool equal = equally_spaced(x), periodic = asked ? *asked : told ? *told : equal && ends_meet(data);
  data.ends = asked && !told ? "as requested"
              : told         ? "as the file states"
                             : "by its values, since the file does not state it: set 'periodic' to choose";
  if (!periodic) return;
  if (!equal)
    throw InputError(
        fmt::format("x of '{}' is periodic, but its points are not equally spaced, so that its period is unknown; "
                    "write the fields at equally spaced points",
                    data.file));
  data.period = (x.back() - x.front()) * static_cast<double>(x.size()) / static_cast<double>(x.size() - 1);
}

}  // namespace

std::array<std::vector<double>, 3> axes_of(const FieldFile& file, const std::string& path) {
  std::array out{file.coordinate(0), file.coordinate(1), file.coordinate(2)};
  if (out[0].empty()) throw InputError(fmt::format("'{}' holds no frame: give fields that a run has written", path));
  for (int a = 0; a < 3; ++a) require_increasing(out[a], file.name_of_axis(a), path);
  return out;
}

FieldData read_fields(const std::string& path, const std::vector<std::string>& names, std::size_t frames,
                      std::optional<bool> periodic) {
  const FieldFile file(path);
  FieldData data;
  data.file = path;
  data.names = names;
  data.axis = axes_of(file, path);
  const auto all = static_cast<std::int64_t>(data.axis[0].size());
  const std::int64_t kept = std::min<std::int64_t>(all, static_cast<std::int64_t>(frames)), first = all - kept;
  const std::array<std::int64_t, 3> whole{all, static_cast<std::int64_t>(data.nx()),
                                          static_cast<std::int64_t>(data.nz())};
  data.axis[0].erase(data.axis[0].begin(), data.axis[0].begin() + first);
  for (const auto& name : names) data.values.push_back(file.read(name, whole, first));
  data.hidden = file.hidden(whole, first);
  for (std::size_t k = 0; k < names.size(); ++k) require_finite(data, k);
  find_period(data, periodic, file.periodic());
  fill_hidden(data);
  return data;
}

bool Volumes::at(const std::string& path) { return FieldFile(path, true).whole(); }

Volumes::Volumes(const std::string& path) : file_(path, true), path_(path) {
  const auto times = file_.coordinate(0);
  frames_ = std::ssize(times);
  if (frames_ == 0) throw InputError(fmt::format("'{}' holds no frame: give fields that a run has written", path));
  require_increasing(times, file_.name_of_axis(0), path);
  axis_ = {file_.coordinate(1), file_.coordinate_y(), file_.coordinate(2)};
  for (int a = 0; a < 3; ++a) {
    const std::string name(1, "xyz"[a]);
    require_increasing(axis_[a], name, path);
    if (a == 2) break;
    const auto& x = axis_[a];
    if (x.size() < 2 || !equally_spaced(x))
      throw InputError(
          fmt::format("{} of '{}' is periodic, but its points are not equally spaced, so that its period is unknown; "
                      "write the fields at equally spaced points",
                      name, path));
    period_[a] = (x.back() - x.front()) * static_cast<double>(x.size()) / static_cast<double>(x.size() - 1);
  }
}

std::vector<double> Volumes::planes(const std::string& name, std::int64_t first, std::int64_t count) const {
  const std::int64_t nx = std::ssize(axis_[0]), ny = std::ssize(axis_[1]), nz = std::ssize(axis_[2]);
  auto out = file_.planes(name, {frames_, nx, ny, nz}, frames_ - 1, first, count);
  for (std::int64_t n = 0; n < std::ssize(out); ++n)
    if (!std::isfinite(out[n]))
      throw InputError(fmt::format("field '{}' of '{}' is not finite at x = {:g}, y = {:g}, z = {:g} in its last frame",
                                   name, path_, axis_[0][n / (ny * count)], axis_[1][n / count % ny],
                                   axis_[2][first + n % count]));
  return out;
}

std::string ends_of_x(const FieldData& data) {
  return fmt::format("x {}, {}", data.period > 0.0 ? "periodic" : "ends at walls", data.ends);
}

}  // namespace cambium::superres
