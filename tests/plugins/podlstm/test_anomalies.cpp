// Climatology, trend and standard deviation taken off a field and put back; sampling errors of energies; means over
// boxes.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <tuple>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/random.hpp"
#include "plugins/podlstm/pod/basis.hpp"
#include "plugins/podlstm/pod/pod_file.hpp"
#include "plugins/podlstm/pod/pod_maps.hpp"
#include "plugins/podlstm/tasks/probabilistic.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

constexpr int n_time = 36, n_lat = 4, n_lon = 6, cells = n_lat * n_lon, training = 30;

double lat(int c) { return 60.0 - 40.0 * (c / n_lon); }  // from the north
double lon(int c) { return 60.0 * (c % n_lon); }

/// Two patterns with noise-free coefficients, a year's wave and a trend in every cell, months from 2001-01-15; one cell
/// of land.
double value(int t, int c) {
  const double month = t, year = 2.0 * M_PI * (14.0 + 30.436875 * t) / 365.2425;
  return c == 8 ? std::nan("")
                : 10.0 + 0.3 * c + (2.0 + 0.1 * c) * std::cos(year) - 0.5 * std::sin(2.0 * year) + 0.02 * c * month +
                      3.0 * std::sin(0.9 * c) * std::cos(1.3 * month) + std::cos(0.4 * c) * std::sin(2.1 * month + 1.0);
}

std::string write(Stage& stage, const std::string& array = "sst") {
  const auto path = stage.file("field.h5");
  if (stage.comm.root())
    io::write_h5_atomically(path, [&](io::File& f) {
      std::vector<double> q, latitudes, longitudes, time;
      for (int t = 0; t < n_time; ++t) {
        time.push_back(14.0 + 30.436875 * t);
        for (int c = 0; c < cells; ++c) q.push_back(value(t, c));
      }
      for (int i = 0; i < n_lat; ++i) latitudes.push_back(lat(i * n_lon));
      for (int j = 0; j < n_lon; ++j) longitudes.push_back(lon(j));
      f.write(array, io::tensor_of(q.data(), {n_time, n_lat, n_lon})).set_attribute("units", "degC");
      f.write("lat", latitudes).set_attribute("units", "degrees_north");
      f.write("lon", longitudes).set_attribute("units", "degrees_east");
      f.write("time", time).set_attribute("units", "days since 2001-01-01");
      f.attach_scales(array, {"time", "lat", "lon"});
    });
  stage.comm.barrier();
  return path;
}

FieldParams params_of(const std::string& path) {
  FieldParams p;
  p.files = {path};
  p.array = "sst";
  p.missing = Missing::land;
  return p;
}

std::string says(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("what was taken off comes back from modes, climatology, trend and norm", "[anomalies]") {
  Stage stage;
  const auto path = write(stage);
  struct Case {
    AnomalyKeys keys;
    std::int64_t modes;  ///< as many patterns as are left
  };
  const std::vector<Case> all = {{{}, 4},
                                 {{2, {}, false, false}, 3},
                                 {{2, {}, true, true}, 2},
                                 {{0, {}, true, false}, 4},
                                 {{1, {2002, 2003}, false, true}, 4}};
  for (const auto& [keys, modes] : all) {
    Field field(params_of(path), AreaWeights::cos_latitude, training, 1e9, stage.context);
    field.take_off(keys);
    const Basis basis = compute_basis(field, {modes, PodMethod::snapshots, 10, 60, 1e-11}, stage.context);
    const auto file = stage.file("pod.h5");
    write_pod_file(file, field, basis, "cos_latitude", stage.context);
    stage.comm.barrier();
    const PodMaps maps = PodMaps::read(file, modes);
    CHECK(maps.array == "sst");
    CHECK(maps.unit == "degC");
    REQUIRE(maps.axes.size() == 2);
    for (int t : {0, 17, n_time - 1}) {
      const auto map = maps.field(basis.coefficients.row(t), field.day(t));
      for (int c = 0; c < cells; ++c) {
        if (c == 8)
          CHECK(std::isnan(map[static_cast<std::size_t>(c)]));
        else
          CHECK(map[static_cast<std::size_t>(c)] == Approx(value(t, c)).margin(1e-8));
      }
    }
    if (keys.harmonics == 2 && keys.detrend) {  // what is left are the two patterns: two modes have it all
      double energy = 0.0;
      for (double e : basis.energy) energy += e;
      CHECK(energy / basis.total_energy > 1.0 - 1e-9);
    }
    if (keys.standardise) {  // every cell of the anomalies has variance 1 in training, so with its weight the mean is 1
      CHECK(basis.total_energy / (training * basis.weight) == Approx(1.0).margin(keys.years.empty() ? 1e-9 : 0.5));
    }
    // Box across Greenwich: longitudes 300 and 0, latitudes 20 and -20 of which cell (20, 120) is land elsewhere.
    const BoxMean box = BoxMean::of(maps, "gulf", {-30.0, 30.0}, {290.0, 10.0});
    CHECK(box.unit == "degC");
    for (int t : {3, n_time - 1}) {
      double sum = 0.0, weight = 0.0;
      for (int c = 0; c < cells; ++c)
        if (std::abs(lat(c)) < 30.0 && (lon(c) == 300.0 || lon(c) == 0.0)) {
          sum += std::cos(lat(c) * M_PI / 180.0) * value(t, c);
          weight += std::cos(lat(c) * M_PI / 180.0);
        }
      CHECK(box.of(basis.coefficients.row(t), field.day(t)) == Approx(sum / weight).margin(1e-8));
    }
    CHECK(says([&] {
            BoxMean::of(maps, "land", {10.0, 30.0}, {100.0, 140.0});
          }) == "index 'land': no cell with a value between latitudes 10 and 30, longitudes 100 and 140");
    CHECK(says([&] { PodMaps::read(file, 9); }) ==
          fmt::format("'{}' has {} modes, but the series has 9; take both from one file", file, modes));
    PodMaps cut = maps;
    cut.residual_rms.pop_back();
    CHECK(says([&] { cut.require_whole("pod.h5"); }) ==
          "modes, mean and axes of 'pod.h5' do not fit one another; make it again");
    PodMaps rotated = maps;
    rotated.axes.front().name = "rlat";
    rotated.axes.front().standard_name = "grid_latitude";
    CHECK(says([&] {
            BoxMean::of(rotated, "alps", {-5.0, 5.0}, {0.0, 10.0});
          }) ==
          "index 'alps': 'rlat' is the grid_latitude of a rotated grid, which has other values than the Earth's; bring "
          "the field to a regular grid (cdo remapbil), or leave the index out");
    PodMaps still = maps;
    still.axes.front().standard_name = "height";
    CHECK(says([&] {
            BoxMean::of(still, "nino34", {-5.0, 5.0}, {190.0, 240.0});
          }) == "index 'nino34': the modes have no axes of latitude and longitude");
  }
}

TEST_CASE("cells on the edges of a box count, also with coordinates in 32 bits", "[anomalies]") {
  PodMaps maps;
  maps.axes = {{"lat", "degrees_north", "latitude", {}}, {"lon", "degrees_east", "longitude", {}}};
  for (int i = 0; i < 4; ++i) {
    maps.axes[0].values.push_back(static_cast<double>(-4.9F + 0.2F * static_cast<float>(i)));
    maps.axes[1].values.push_back(static_cast<double>(190.1F + 0.2F * static_cast<float>(i)));
  }
  REQUIRE(maps.axes[0].values[0] < -4.9);  // as read from a file
  REQUIRE(maps.axes[1].values[1] > 190.3);
  for (int c = 0; c < 16; ++c) maps.mean.push_back(c % 4 < 2 && c / 4 < 2 ? 1.0 : 100.0);
  maps.modes = Matrix(1, 16);
  CHECK(BoxMean::of(maps, "box", {-4.9, -4.7}, {190.1, 190.3}).mean == Approx(1.0));
  CHECK(BoxMean::of(maps, "box", {-4.9, -4.7}, {-169.9, -169.7}).mean == Approx(1.0));
  for (double& x : maps.mean) x = 2.0;
  CHECK(BoxMean::of(maps, "globe", {-90.0, 90.0}, {-180.0, 180.0}).mean == Approx(2.0));
}

TEST_CASE("a trend is per day, or per unit of times whose length is not known", "[anomalies]") {
  for (const auto& [units, step, of_trend] :
       {std::tuple{"hours", 24.0, "K day-1"}, {"t_ff", 1.0, "K (t_ff)-1"}, {"days since 2000-01-01", 1.0, "K day-1"}}) {
    INFO(units);
    Stage stage;
    if (stage.comm.root())
      io::write_h5_atomically(stage.file("trend.h5"), [&](io::File& f) {
        std::vector<double> q, time;
        for (int t = 0; t < 20; ++t) {
          time.push_back(step * t);
          for (int c = 0; c < 3; ++c) q.push_back(0.25 * t * (c + 1) + std::sin(static_cast<double>(t * t + c)));
        }
        f.write("q", io::tensor_of(q.data(), {20, 3})).set_attribute("units", "K");
        f.write("time", time).set_attribute("units", units);
      });
    stage.comm.barrier();
    auto params = params_of(stage.file("trend.h5"));
    params.array = "q";
    Field field(params, AreaWeights::none, {}, 1e9, stage.context);
    if (std::string(units) == "t_ff")
      CHECK(says([&] {
              field.take_off({1, {}, false, false});
            }) == "harmonics: times are in 't_ff', of which a year has no known number; set harmonics: 0");
    field.take_off({0, {}, true, false});
    const Basis basis = compute_basis(field, {1, PodMethod::snapshots, 10, 60, 1e-11}, stage.context);
    write_pod_file(stage.file("pod.h5"), field, basis, "none", stage.context);
    stage.comm.barrier();
    const io::File file = io::File::open(stage.file("pod.h5"));
    const auto trend = file.read<std::vector<double>>("trend");
    CHECK(file.dataset("trend").attribute<std::string>("units") == of_trend);
    for (std::size_t c = 0; c < 3; ++c) CHECK(trend[c] == Approx(0.25 * static_cast<double>(c + 1)).margin(0.05));
    stage.comm.barrier();
  }
}

TEST_CASE("maps of an array in a group have its name alone, at the top of a file", "[anomalies]") {
  Stage stage;
  auto params = params_of(write(stage, "/ocean/sst"));
  params.array = "ocean/sst";
  Field field(params, AreaWeights::cos_latitude, training, 1e9, stage.context);
  const Basis basis = compute_basis(field, {2, PodMethod::snapshots, 10, 60, 1e-11}, stage.context);
  write_pod_file(stage.file("pod.h5"), field, basis, "cos_latitude", stage.context);
  stage.comm.barrier();
  CHECK(PodMaps::read(stage.file("pod.h5"), 2).array == "sst");
}

TEST_CASE("names of arrays of ahead.nc are distinct", "[messages]") {
  PodMaps maps;
  maps.array = "sst";
  maps.axes = {{"lat", "degrees_north", "latitude", {0.0}}, {"lon", "degrees_east", "longitude", {0.0}}};
  const auto named = [&](const char* name) {
    BoxMean out;
    out.name = name;
    return says([&] { require_names_ahead(maps, {out}); });
  };
  CHECK(named("nino34") == "no error");
  CHECK(named("sst") == "index 'sst': ahead.nc has another array 'sst'; rename the index");
  CHECK(named("sst spread") == "index 'sst spread': ahead.nc has another array 'sst_spread'; rename the index");
  CHECK(named("lat") == "index 'lat': ahead.nc has another array 'lat'; rename the index");
  CHECK(named("lead") == "index 'lead': ahead.nc has another array 'lead'; rename the index");
  maps.axes.front().name = "member";
  CHECK(named("nino34") ==
        "the modes have the axis 'member', which is the name of another array of ahead.nc; rename it before the stage "
        "`pod` (ncrename -d member,NEW -v member,NEW)");
}

TEST_CASE("errors of energies are those of independent snapshots", "[anomalies]") {
  Basis basis;
  basis.coefficients = Matrix(20000, 2);
  double x = 0.0;
  for (std::int64_t t = 0; t < basis.coefficients.rows; ++t) {
    basis.coefficients(t, 0) = Random4(3, Stream::test, 1, static_cast<std::uint64_t>(t)).normal(0);
    x = 0.9 * x + Random4(3, Stream::test, 2, static_cast<std::uint64_t>(t)).normal(0);
    basis.coefficients(t, 1) = x;
  }
  const auto error = basis.sampling_errors(20000);
  CHECK(error[0] == Approx(std::sqrt(2.0 / 20000.0)).epsilon(0.02));
  CHECK(error[1] == Approx(std::sqrt(2.0 / 20000.0 * (1.0 + 0.81) / (1.0 - 0.81))).epsilon(0.1));
}

TEST_CASE("climatologies that cannot be made", "[messages]") {
  Stage stage;
  const auto path = write(stage);
  Field field(params_of(path), AreaWeights::none, training, 1e9, stage.context);
  CHECK(
      says([&] {
        field.take_off({3, {1990, 1999}, false, false});
      }) ==
      "anomalies: 0 snapshots of the climatology are too few for 7 coefficients; give other years, fewer harmonics or "
      "more snapshots");
  if (stage.comm.root())
    io::write_h5_atomically(stage.file("undated.h5"), [&](io::File& f) {
      std::vector<double> q(40), time;
      for (int t = 0; t < 10; ++t) time.push_back(t);
      for (std::size_t i = 0; i < q.size(); ++i) q[i] = std::sin(static_cast<double>(i * i));
      f.write("sst", io::tensor_of(q.data(), {10, 4}));
      f.write("time", time).set_attribute("units", "days");
    });
  stage.comm.barrier();
  Field undated(params_of(stage.file("undated.h5")), AreaWeights::none, 10, 1e9, stage.context);
  CHECK(says([&] {
          undated.take_off({0, {1990, 1999}, false, false});
        }) == "years: the times of the field are no dates; leave years out");
  CHECK(
      says([&] { PodMaps::read(stage.file("undated.h5"), 1); })
          .find(
              "' has no modes on a grid, which maps and means over a box are made of; name a pod.h5 that a stage `pod` "
              "wrote") != std::string::npos);
}

TEST_CASE("the years of a climatology begin at midnight for any reference date", "[anomalies]") {
  // Starts of months from 2001 on, which are -0.5, 30.5, ... days after noon of January 1st, or whole hours.
  Stage stage;
  const auto path = stage.file("years.h5");
  const std::vector<double> begin{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  for (const auto& [units, step, offset] : {std::tuple{"days since 2001-01-01", 1.0, 0.0},
                                            {"days since 2001-01-01 12:00:00", 1.0, -0.5},
                                            {"days since 2000-12-31 06:00:00", 1.0, 0.75},
                                            {"hours since 2000-12-31 21:00:00", 24.0, 0.125}}) {
    double sum = 0.0;
    if (stage.comm.root())
      io::write_h5_atomically(path, [&](io::File& f) {
        std::vector<double> q, time;
        for (int t = 0; t < 48; ++t) {
          const auto month = static_cast<std::size_t>(t % 12);
          time.push_back(step * (365.0 * (t / 12) + begin[month] + offset));
          for (int c = 0; c < 3; ++c) q.push_back(t * t + std::sin(static_cast<double>(t * c)));
        }
        f.write("sst", io::tensor_of(q.data(), {48, 3}));
        auto array = f.write("time", time);
        array.set_attribute("units", units);
        array.set_attribute("calendar", "noleap");
      });
    stage.comm.barrier();
    for (int t = 12; t < 36; ++t) sum += t * t;
    auto params = params_of(path);
    params.missing = Missing::refuse;
    Field field(params, AreaWeights::none, 48, 1e9, stage.context);
    field.take_off({0, {2002, 2003}, false, false});
    INFO(units);
    field.for_each_block([&](const CellBlock& block) {
      for (std::size_t i = 0; i < block.cells.size(); ++i)
        if (block.cells[i] == 0) CHECK(block.mean[i] == Approx(sum / 24.0).epsilon(1e-12));
    });
    stage.comm.barrier();
  }
}

TEST_CASE("harmonics that the times do not determine are refused, and those that they do are found", "[anomalies]") {
  Stage stage;
  const auto made = [&](const std::vector<double>& days) {
    if (stage.comm.root())
      io::write_h5_atomically(stage.file("times.h5"), [&](io::File& f) {
        std::vector<double> q;
        for (const double day : days)
          for (int c = 0; c < 4; ++c) q.push_back(c + std::cos(2.0 * M_PI * day / 365.0) + std::sin(day * day + c));
        f.write("sst", io::tensor_of(q.data(), {std::ssize(days), 4}));
        auto time = f.write("time", days);
        time.set_attribute("units", "days since 2001-01-01");
        time.set_attribute("calendar", "noleap");
      });
    stage.comm.barrier();
  };
  const auto found = [&](const std::vector<double>& days, int harmonics) {
    made(days);
    auto params = params_of(stage.file("times.h5"));
    params.missing = Missing::refuse;
    Field field(params, AreaWeights::none, {}, 1e9, stage.context);
    const auto text = says([&] { field.take_off({harmonics, {}, false, false}); });
    stage.comm.barrier();
    return text;
  };
  const std::vector<double> begin{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  std::vector<double> years, months, summers, days;
  for (int y = 0; y < 10; ++y) {
    years.push_back(365.0 * y);
    for (const double first : begin) months.push_back(365.0 * y + first);
    for (int d = 151; d < 243; ++d) summers.push_back(365.0 * y + d);
  }
  for (int d = 0; d < 60; ++d) days.push_back(d);
  CHECK(found(months, 5) == "no error");
  CHECK(found(months, 6) ==
        "harmonics: 6 of a year of 365 days have cycles down to 60.833333333333336 days, but the climatology has a "
        "snapshot every 31 days, and a cycle takes more than two; give 5 at most");
  CHECK(found(years, 1) ==
        "harmonics: 1 of a year of 365 days have cycles down to 365 days, but the climatology has a snapshot every 365 "
        "days, and a cycle takes more than two; give 0 at most");
  CHECK(found(years, 0) == "no error");
  CHECK(found(days, 1) ==
        "harmonics: the snapshots of the climatology span 60 of the 365 days of a year; give a year of snapshots, or "
        "harmonics: 0");
  CHECK(found(summers, 2) == "no error");
  CHECK(found(summers, 4) ==  // by numpy 304328
        "harmonics: the seasons of the 920 snapshots of the climatology do not determine 4 harmonics (condition number "
        "3.0e+05); give fewer, or snapshots of all seasons");
}
