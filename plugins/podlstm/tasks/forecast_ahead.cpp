// Forecasts beyond the last date as a CF file: coefficients, and, if the modes are available, fields with their spread.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/podlstm/tasks/probabilistic.hpp"

namespace cambium::podlstm {

namespace {

struct Ahead {
  std::int64_t times = 0, modes = 0;
  std::vector<double> days;  ///< valid ones
  double issued = 0.0;
  Matrix mean;                  ///< (1, leads * modes)
  std::vector<Matrix> members;  ///< the same each
};

/// As dates if the series has them: days since the reference date.
io::Dataset dated(io::Dataset array, io::cf::TimeUnit unit, const std::string& meaning, const char* standard) {
  const bool has_date = unit.has_date();
  unit.seconds = 86400.0;
  unit.text.clear();
  io::labelled(array, has_date ? io::cf::plain_unit(unit).text : "", meaning);
  if (!has_date) return array;
  array.set_attribute("standard_name", standard);
  array.set_attribute("calendar", std::string(io::cf::name_of(unit.calendar)));
  return array;
}

void write_times(io::File& out, const Ahead& a, const Series& series) {
  io::follow_cf(out);
  out.set_attribute("title", "Ensemble forecast by a linear inverse model");
  std::vector<double> lead;
  for (double day : a.days) lead.push_back(day - a.issued);
  io::labelled(out.write("lead", lead), "days", "time since the last input date of the forecast")
      .set_attribute("standard_name", "forecast_period");
  dated(out.write("issued", a.issued), series.time_unit, "last input date of the forecast", "forecast_reference_time");
  dated(out.write("valid_time", a.days), series.time_unit, "date of the forecast", "time").set_attribute("axis", "T");
  out.attach_scales("lead", {"valid_time"});
}

/// Members (member, valid_time[, mode]) of the coefficients and of the indices.
void write_members(io::File& out, const Ahead& a, const Series& series, const std::vector<BoxMean>& indices) {
  const auto count = std::ssize(a.members);
  std::vector<std::int64_t> members(a.members.size()), modes(static_cast<std::size_t>(a.modes));
  std::iota(members.begin(), members.end(), 1);
  std::iota(modes.begin(), modes.end(), 1);
  io::labelled(out.write("member", members), "", "member of the ensemble")
      .set_attribute("standard_name", "realization");
  io::labelled(out.write("mode", modes), "", "mode number");
  std::vector<double> values;
  for (const auto& member : a.members)
    values.insert(values.end(), member.a.begin(), member.a.begin() + a.times * a.modes);
  io::set_coordinates(io::labelled(out.write("coefficients", io::tensor_of(values.data(), {count, a.times, a.modes})),
                                   series.unit, "coefficients of the modes"),
                      "issued lead");
  out.attach_scales("coefficients", {"member", "valid_time", "mode"});
  for (const auto& index : indices) {
    std::vector<double> all;
    for (const auto& member : a.members)
      for (std::int64_t h = 0; h < a.times; ++h)
        all.push_back(index.of(member.row(0) + h * a.modes, a.days[static_cast<std::size_t>(h)]));
    const auto name = io::plain_name(index.name);
    io::set_coordinates(io::labelled(out.write(name, io::tensor_of(all.data(), {count, a.times})), index.unit,
                                     fmt::format("index {}, mean over a box", index.name)),
                        "issued lead");
    out.attach_scales(name, {"member", "valid_time"});
  }
}

/// Variance of each cell over the members at a lead, plus the truncation error.
std::vector<double> spread_of(const PodMaps& maps, const Ahead& a, std::int64_t h) {
  const std::int64_t m = a.modes;
  Matrix covariance(m, m);
  std::vector<double> mean(static_cast<std::size_t>(m), 0.0);
  const auto count = static_cast<double>(a.members.size());
  for (const auto& member : a.members)
    for (std::int64_t k = 0; k < m; ++k) mean[static_cast<std::size_t>(k)] += member(0, h * m + k) / count;
  for (const auto& member : a.members)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t k = 0; k < m; ++k)
        covariance(i, k) += (member(0, h * m + i) - mean[static_cast<std::size_t>(i)]) *
                            (member(0, h * m + k) - mean[static_cast<std::size_t>(k)]) / (count - 1.0);
  const Matrix half = product(covariance, maps.modes);
  std::vector<double> out(static_cast<std::size_t>(maps.cells()));
  for (std::size_t cell = 0; cell < out.size(); ++cell) {
    const auto c = static_cast<std::int64_t>(cell);
    double variance = 0.0;
    for (std::int64_t k = 0; k < m; ++k) variance += maps.modes(k, c) * half(k, c);
    const double norm = maps.norm.empty() ? 1.0 : maps.norm[cell];
    out[cell] = std::sqrt(norm * norm * variance + maps.residual_rms[cell] * maps.residual_rms[cell]);
  }
  return out;
}

void write_maps(io::File& out, const Ahead& a, const PodMaps& maps) {
  std::vector<std::int64_t> shape = {a.times};
  std::vector<std::string> dimensions = {"valid_time"};
  for (const auto& axis : maps.axes) {
    auto array = io::labelled(out.write(axis.name, axis.values), axis.unit, axis.name);
    if (!axis.standard_name.empty()) array.set_attribute("standard_name", axis.standard_name);
    shape.push_back(std::ssize(axis.values));
    dimensions.push_back(axis.name);
  }
  const std::string names[] = {maps.array, maps.array + "_spread"};
  const std::string meanings[] = {"forecast of " + maps.array,
                                  "standard deviation of the forecast, with the residual of the modes"};
  for (int which : {0, 1}) {
    std::vector<double> values;
    for (std::int64_t h = 0; h < a.times; ++h) {
      const auto map = which == 0 ? maps.field(a.mean.row(0) + h * a.modes, a.days[static_cast<std::size_t>(h)])
                                  : spread_of(maps, a, h);
      values.insert(values.end(), map.begin(), map.end());
    }
    auto array = out.allocate(names[which], DType::f64, shape);
    TensorRef t = io::tensor_of(values.data(), {});
    for (std::int64_t n : shape) t.shape[t.rank++] = n;
    for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
    array.write_block(std::vector<std::int64_t>(shape.size(), 0), t);
    array.set_attribute("_FillValue", std::numeric_limits<double>::quiet_NaN());
    io::set_coordinates(io::labelled(array, maps.unit, meanings[which]), "issued lead");
    out.attach_scales(names[which], dimensions);
  }
}

}  // namespace

void require_names_ahead(const PodMaps& maps, const std::vector<BoxMean>& indices) {
  std::set<std::string> names{"cambium", "coefficients", "issued", "lead", "member", "mode", "valid_time"};
  for (const auto& axis : maps.axes)
    if (!names.insert(axis.name).second)
      throw InputError(fmt::format(
          "the modes have the axis '{}', which is the name of another array of ahead.nc; rename it before the stage "
          "`pod` (ncrename -d {},NEW -v {},NEW)",
          axis.name, axis.name, axis.name));
  names.insert({maps.array, maps.array + "_spread"});
  for (const auto& index : indices)
    if (const auto name = io::plain_name(index.name); !names.insert(name).second)
      throw InputError(fmt::format("index '{}': ahead.nc has another array '{}'; rename the index", index.name, name));
}

void write_ahead(const ProbabilisticForecast& forecast, const Series& series, const WindowShape& shape,
                 std::int64_t times, const PodMaps* maps, const std::vector<BoxMean>& indices, Context& context) {
  Stretch s = series.last(shape.past);
  Ahead a;
  a.times = times;
  a.modes = series.modes();
  a.issued = s.days.back();
  a.days = series.next_days(shape.future);
  s.days.insert(s.days.end(), a.days.begin(), a.days.end());
  s.a.a.resize(static_cast<std::size_t>(shape.length() * a.modes), 0.0);
  s.a.rows = shape.length();
  a.members = forecast.members(s, {0}, context.seed + 1, a.mean);
  a.days.resize(static_cast<std::size_t>(times));
  const auto path = (std::filesystem::path(context.run_directory) / "ahead.nc").string();
  io::on_root(context.comm, [&] {
    io::write_h5_atomically(path, [&](io::File& out) {
      write_times(out, a, series);
      write_members(out, a, series, indices);
      if (maps) write_maps(out, a, *maps);
      io::write_provenance(out, io::provenance_of(context));
    });
  });
  context.log.info(fmt::format("ahead: {} times beyond the last, {} members by {}{}", times, a.members.size(),
                               forecast.name(), maps ? ", with maps and their spread" : ""));
}

}  // namespace cambium::podlstm
