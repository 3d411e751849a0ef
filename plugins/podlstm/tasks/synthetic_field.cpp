#include "plugins/podlstm/tasks/synthetic_field.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/constants.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/memory.hpp"
#include "core/parallel/random.hpp"
#include "core/plugin/check.hpp"

namespace cambium::podlstm {

void SyntheticField::Params::describe(deck::Describe<Params>& d) {
  d("weeks", &Params::weeks, "snapshots, one a week").at_least(2).def(520);
  d("latitudes", &Params::latitudes, "cells from south to north").at_least(2).def(30);
  d("longitudes", &Params::longitudes, "cells around the globe").at_least(4).def(60);
  d("noise", &Params::noise, "standard deviation of independent noise in every cell (K)").non_negative().def(0.2);
}

/// Memory: every rank has the full field in float32, and per week a time and two amplitudes.
void SyntheticField::require_room(Context& context) const {
  const double weeks = static_cast<double>(params_.weeks),
               cells = static_cast<double>(params_.latitudes) * static_cast<double>(params_.longitudes);
  require_memory(weeks * (sizeof(float) * cells + 3 * sizeof(double)),
                 fmt::format("{} weeks on {} x {} cells", params_.weeks, params_.latitudes, params_.longitudes),
                 "give fewer 'weeks' or cells", context);
}

void SyntheticField::examine(Check& check) {
  const Origin stage{Origin::stage, "synthetic_field"};
  check.will_write({"field.h5", stage, {"time", "lat", "lon", "sst"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  require_room(context);
  context.log.info(
      fmt::format("synthetic_field: {} weeks on {} x {} cells", params_.weeks, params_.latitudes, params_.longitudes));
  check.memory("the field", sizeof(float) * static_cast<double>(params_.weeks) *
                                static_cast<double>(params_.latitudes * params_.longitudes));
}

namespace {

using constants::pi;

/// Weekly amplitudes of the components without a fixed period.
std::vector<std::array<double, 2>> slow_amplitudes(std::int64_t weeks, std::uint64_t seed) {
  std::vector<std::array<double, 2>> out;
  double wave = 1.0, x = 1.0, y = 0.0;
  const double damp = 0.995, turn = 2.0 * pi / 190.0;  // 3.6-year oscillation with a decay time of 4 years
  for (std::int64_t t = 0; t < weeks; ++t) {
    const Random4 random(seed, Stream::example_field, static_cast<std::uint64_t>(t), 0);
    wave = 1.0 + 0.98 * (wave - 1.0) + 0.1 * random.normal(0);
    const double nx = damp * (std::cos(turn) * x - std::sin(turn) * y) + 0.1 * random.normal(1);
    y = damp * (std::sin(turn) * x + std::cos(turn) * y) + 0.1 * random.normal(2);
    x = nx;
    out.push_back({wave, x});
  }
  return out;
}

bool is_land(double latitude, double longitude) {
  return (longitude > 20.0 && longitude < 60.0 && latitude > -30.0 && latitude < 60.0) ||
         (longitude > 240.0 && longitude < 285.0 && std::abs(latitude) > 10.0 && latitude < 65.0 && latitude > -50.0);
}

double temperature(double latitude, double longitude, std::int64_t week, const std::array<double, 2>& slow) {
  const double phi = latitude * pi / 180.0, lambda = longitude * pi / 180.0,
               year = 2.0 * pi * 7.0 * static_cast<double>(week) / 365.2425;
  return 28.0 * std::pow(std::cos(phi), 2) - 1.0 + 5.0 * std::sin(phi) * std::cos(year - 0.6) +
         0.8 * std::cos(phi) * std::cos(2.0 * year) +
         0.6 * slow[0] * std::cos(2.0 * phi) * std::cos(3.0 * lambda - year / 2.0) +
         1.5 * slow[1] * std::exp(-std::pow(latitude / 12.0, 2)) * std::exp(-std::pow((longitude - 200.0) / 60.0, 2));
}

}  // namespace

Task::Outcome SyntheticField::run(Context& context) {
  require_room(context);
  const auto path = (std::filesystem::path(context.run_directory) / "field.h5").string();
  std::vector<double> lat, lon, time;
  for (std::int64_t i = 0; i < params_.latitudes; ++i)
    lat.push_back(-90.0 + 180.0 * (static_cast<double>(i) + 0.5) / static_cast<double>(params_.latitudes));
  for (std::int64_t j = 0; j < params_.longitudes; ++j)
    lon.push_back(360.0 * (static_cast<double>(j) + 0.5) / static_cast<double>(params_.longitudes));
  const auto slow = slow_amplitudes(params_.weeks, context.seed);
  std::vector<float> values;
  for (std::int64_t t = 0; t < params_.weeks; ++t) {
    time.push_back(7.0 * static_cast<double>(t));
    for (std::size_t i = 0; i < lat.size(); ++i)
      for (std::size_t j = 0; j < lon.size(); ++j) {
        const Random4 random(context.seed, Stream::example_field, i * lon.size() + j,
                             static_cast<std::uint64_t>(t) + 1);
        values.push_back(is_land(lat[i], lon[j]) ? std::numeric_limits<float>::quiet_NaN()
                                                 : static_cast<float>(temperature(lat[i], lon[j], t, slow[t]) +
                                                                      params_.noise * random.normal(0)));
      }
  }
  io::on_root(context.comm, [&] {
    io::write_h5_atomically(path, [&](io::File& file) {
      io::follow_cf(file);
      io::labelled(file.write("time", time), "days since 2000-01-01", "time").set_attribute("standard_name", "time");
      io::labelled(file.write("lat", lat), "degrees_north", "latitude").set_attribute("standard_name", "latitude");
      io::labelled(file.write("lon", lon), "degrees_east", "longitude").set_attribute("standard_name", "longitude");
      io::labelled(
          file.write("sst", io::tensor_of(values.data(), {params_.weeks, params_.latitudes, params_.longitudes})),
          "degC", "synthetic surface temperature")
          .set_attribute("_FillValue", std::numeric_limits<float>::quiet_NaN());  // otherwise CDO counts land
      file.attach_scales("sst", {"time", "lat", "lon"});
      io::write_provenance(file, io::provenance_of(context));
    });
  });
  context.log.info(
      fmt::format("synthetic_field: {} weeks on {} x {} cells", params_.weeks, params_.latitudes, params_.longitudes));
  return Outcome::done;
}

}  // namespace cambium::podlstm
