#include "plugins/podlstm/pod/pod_maps.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::podlstm {

namespace {

std::string text_of(const io::Object& object, const char* name) {
  return object.has_attribute(name) ? object.attribute<std::string>(name) : "";
}

/// cos, sin, cos of twice the angle, ... of a day.
double year_wave(std::size_t j, double day, double period) {
  const double angle = 2.0 * constants::pi * static_cast<double>(j / 2 + 1) * day / period;
  return j % 2 == 0 ? std::cos(angle) : std::sin(angle);
}

/// Degrees in [0, 360).
double around_earth(double degrees) { return std::fmod(std::fmod(degrees, 360.0) + 360.0, 360.0); }

/// Coordinates are often stored in 32 bits: 190.3 is 190.300003, and belongs to a box that ends at 190.3.
constexpr double rounding = 1e-4;  // degrees

}  // namespace

bool PodMaps::in(const std::string& path) {
  const io::File file = io::File::open(path);
  return file.exists("modes") && file.exists("mean") && file.has_attribute("axes");
}

PodMaps PodMaps::read(const std::string& path, std::int64_t modes) {
  const io::File file = io::File::open(path);
  if (!in(path))
    throw InputError(fmt::format(
        "'{}' has no modes on a grid, which maps and means over a box are made of; name a pod.h5 that a stage `pod` "
        "wrote",
        path));
  PodMaps out;
  const auto path_of_array = file.attribute<std::string>("array");
  out.array = path_of_array.substr(path_of_array.rfind('/') + 1);
  const auto mean = file.dataset("mean");
  out.unit = text_of(mean, "units");
  out.mean = mean.read<std::vector<double>>();
  out.residual_rms = file.read<std::vector<double>>("residual_rms");
  const auto array = file.dataset("modes");
  out.modes = Matrix(array.shape().front(), out.cells());
  out.modes.a = array.read<std::vector<double>>();
  if (out.modes.rows != modes)
    throw InputError(
        fmt::format("'{}' has {} modes, but the series has {}; take both from one file", path, out.modes.rows, modes));
  for (const auto& name : file.attribute<std::vector<std::string>>("axes")) {
    const auto axis = file.dataset(name);
    out.axes.push_back(
        {name, text_of(axis, "units"), text_of(axis, "standard_name"), axis.read<std::vector<double>>()});
  }
  if (file.exists("norm")) out.norm = file.read<std::vector<double>>("norm");
  if (file.exists("climatology")) {
    const auto year = file.dataset("climatology");
    out.period = year.attribute<double>("period");
    out.year = Matrix(year.shape().front(), out.cells());
    out.year.a = year.read<std::vector<double>>();
  }
  if (file.exists("trend")) {
    const auto trend = file.dataset("trend");
    out.trend = trend.read<std::vector<double>>();
    out.trend_from = trend.attribute<double>("zero_on_day");
  }
  out.require_whole(path);
  return out;
}

void PodMaps::require_whole(const std::string& path) const {
  std::int64_t grid = 1;
  for (const auto& axis : axes) grid *= std::ssize(axis.values);
  const auto all = static_cast<std::size_t>(modes.rows * cells()),
             of_year = static_cast<std::size_t>(year.rows * cells());
  const auto one = mean.size();
  if (grid != cells() || modes.a.size() != all || residual_rms.size() != one || year.a.size() != of_year ||
      (!norm.empty() && norm.size() != one) || (!trend.empty() && trend.size() != one))
    throw InputError(fmt::format("modes, mean and axes of '{}' do not fit one another; make it again", path));
}

std::vector<double> PodMaps::background(double day) const {
  std::vector<double> out = mean;
  for (std::int64_t j = 0; j < year.rows; ++j) {
    const double factor = year_wave(static_cast<std::size_t>(j), day, period);
    for (std::int64_t i = 0; i < cells(); ++i) out[static_cast<std::size_t>(i)] += factor * year(j, i);
  }
  for (std::size_t i = 0; i < trend.size(); ++i) out[i] += trend[i] * (day - trend_from);
  return out;
}

std::vector<double> PodMaps::field(const double* coefficients, double day) const {
  std::vector<double> out = background(day);
  for (std::int64_t i = 0; i < cells(); ++i) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < modes.rows; ++k) sum += coefficients[k] * modes(k, i);
    const auto cell = static_cast<std::size_t>(i);
    out[cell] += norm.empty() ? sum : norm[cell] * sum;
  }
  return out;
}

BoxMean BoxMean::of(const PodMaps& maps, const std::string& name, const std::vector<double>& lat,
                    const std::vector<double>& lon) {
  std::ptrdiff_t north = -1, east = -1;
  for (std::size_t a = 0; a < maps.axes.size(); ++a) {
    if (maps.axes[a].standard_name.ends_with("latitude")) north = static_cast<std::ptrdiff_t>(a);
    if (maps.axes[a].standard_name.ends_with("longitude")) east = static_cast<std::ptrdiff_t>(a);
  }
  if (north < 0 || east < 0 || maps.axes.size() != 2)
    throw InputError(fmt::format("index '{}': the modes have no axes of latitude and longitude", name));
  for (const auto axis : {north, east})
    if (const auto& a = maps.axes[static_cast<std::size_t>(axis)]; a.standard_name.starts_with("grid_"))
      throw InputError(fmt::format(
          "index '{}': '{}' is the {} of a rotated grid, which has other values than the Earth's; bring the field to a "
          "regular grid (cdo remapbil), or leave the index out",
          name, a.name, a.standard_name));
  std::vector<double> share(static_cast<std::size_t>(maps.cells()), 0.0);
  const auto columns = std::ssize(maps.axes[1].values);
  const double width = lon[1] - lon[0] >= 360.0 ? 360.0 : around_earth(lon[1] - lon[0]);
  double sum = 0.0;
  for (std::int64_t i = 0; i < maps.cells(); ++i) {
    const auto cell = static_cast<std::size_t>(i);
    const auto place = [&](std::ptrdiff_t axis) {
      return maps.axes[static_cast<std::size_t>(axis)]
          .values[static_cast<std::size_t>(axis == 0 ? i / columns : i % columns)];
    };
    const double y = place(north);
    if (y < lat[0] - rounding || y > lat[1] + rounding || std::isnan(maps.mean[cell])) continue;
    if (around_earth(place(east) - lon[0] + rounding) > width + 2.0 * rounding) continue;
    sum += share[cell] = std::cos(y * constants::pi / 180.0);
  }
  if (!(sum > 0.0))
    throw InputError(fmt::format("index '{}': no cell with a value between latitudes {} and {}, longitudes {} and {}",
                                 name, number_text(lat[0]), number_text(lat[1]), number_text(lon[0]),
                                 number_text(lon[1])));
  BoxMean out;
  out.name = name;
  out.unit = maps.unit;
  out.weight.assign(static_cast<std::size_t>(maps.modes.rows), 0.0);
  out.year.assign(static_cast<std::size_t>(maps.year.rows), 0.0);
  out.trend_from = maps.trend_from;
  out.period = maps.period;
  for (std::size_t cell = 0; cell < share.size(); ++cell) {
    if (share[cell] == 0.0) continue;
    const double part = share[cell] / sum, norm = maps.norm.empty() ? part : part * maps.norm[cell];
    const auto i = static_cast<std::int64_t>(cell);
    out.mean += part * maps.mean[cell];
    if (!maps.trend.empty()) out.trend += part * maps.trend[cell];
    for (std::size_t j = 0; j < out.year.size(); ++j) out.year[j] += part * maps.year(static_cast<std::int64_t>(j), i);
    for (std::size_t k = 0; k < out.weight.size(); ++k)
      out.weight[k] += norm * maps.modes(static_cast<std::int64_t>(k), i);
  }
  return out;
}

double BoxMean::background(double day) const {
  double out = mean + trend * (day - trend_from);
  for (std::size_t j = 0; j < year.size(); ++j) out += year[j] * year_wave(j, day, period);
  return out;
}

double BoxMean::of(const double* coefficients, double day) const {
  double out = background(day);
  for (std::size_t k = 0; k < weight.size(); ++k) out += weight[k] * coefficients[k];
  return out;
}

}  // namespace cambium::podlstm
