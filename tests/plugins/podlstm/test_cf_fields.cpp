// Fields as other programs spell them give the modes, dates and periods of the plain one.
#include <cmath>
#include <functional>

#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/podlstm/forecast/options.hpp"
#include "plugins/podlstm/pod/field.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

constexpr int n_time = 6, n_lat = 3, n_lon = 4;

double value(int t, int y, int x) {
  return 20.0 * std::cos(0.7 * (y - 1)) + std::sin(t + 0.5 * y) + 0.3 * std::cos(1.7 * t + x) + 0.1 * x * y;
}
const std::vector<double> latitudes{-60, 0, 60}, longitudes{0, 90, 180, 270};

struct World : Stage {
  /// Writes a file on rank 0.
  std::string write(const std::string& name, const std::function<void(io::File&)>& fill) {
    if (comm.root()) io::write_h5_atomically(file(name), fill);
    comm.barrier();
    return file(name);
  }
  static void coordinates(io::File& f) {
    f.write("lat", latitudes).set_attribute("units", "degrees_north");
    f.write("lon", longitudes).set_attribute("units", "degrees_east");
  }
  static std::vector<double> values(int first, int last) {
    std::vector<double> q;
    for (int t = first; t < last; ++t)
      for (int y = 0; y < n_lat; ++y)
        for (int x = 0; x < n_lon; ++x) q.push_back(value(t, y, x));
    return q;
  }
  std::string plain(const std::string& name = "plain.h5", int first = 0, int last = n_time,
                    const std::string& unit = "days since 2000-01-01", double from = 0.0,
                    const std::string& calendar = "") {
    return write(name, [=](io::File& f) {
      f.write("q", io::tensor_of(values(first, last).data(), {last - first, n_lat, n_lon}));
      coordinates(f);
      std::vector<double> time;
      for (int t = first; t < last; ++t) time.push_back(30.0 * t - from);
      auto array = f.write("time", time);
      array.set_attribute("units", unit);
      if (!calendar.empty()) array.set_attribute("calendar", calendar);
    });
  }
  struct Made {
    std::vector<double> energy, time;
    std::string unit, calendar;
  };
  Made pod(const std::string& field) {
    run("pod", "{field: {array: q, " + field + "}, modes: 3, weights: cos_latitude}");
    comm.barrier();
    const auto f = io::File::open(file("pod.h5"));
    const auto time = f.dataset("time");
    Made out{f.read<std::vector<double>>("energy"), time.read<std::vector<double>>(),
             time.attribute<std::string>("units"),
             time.has_attribute("calendar") ? time.attribute<std::string>("calendar") : ""};
    comm.barrier();
    return out;
  }
};

void require_same(const World::Made& a, const World::Made& b) {
  REQUIRE(a.energy.size() == b.energy.size());
  for (std::size_t k = 0; k < a.energy.size(); ++k) CHECK(a.energy[k] == Approx(b.energy[k]).epsilon(1e-9));
  CHECK(a.time == b.time);
}

}  // namespace

TEST_CASE("a height of length 1, times last, and latitudes of another name change nothing", "[field]") {
  World world;
  const auto expected = world.pod("files: ['" + world.plain() + "']");
  const auto path = world.write("turned.h5", [](io::File& f) {
    std::vector<double> q;
    for (int y = 0; y < n_lat; ++y)
      for (int x = 0; x < n_lon; ++x)
        for (int t = 0; t < n_time; ++t) q.push_back(value(t, y, x));
    f.write("q", io::tensor_of(q.data(), {1, n_lat, n_lon, n_time}));
    f.write("height", std::vector<double>{2}).set_attribute("units", "m");
    std::vector<double> radians, time;
    for (double x : latitudes) radians.push_back(x * M_PI / 180.0);
    auto y = f.write("Y", radians);
    y.set_attribute("units", "radians");
    y.set_attribute("standard_name", "latitude");
    f.write("X", longitudes).set_attribute("units", "degree_east");
    for (int t = 0; t < n_time; ++t) time.push_back(30.0 * t);
    f.write("T", time).set_attribute("units", "days since 2000-1-1");
    f.attach_scales("q", {"height", "Y", "X", "T"});
  });
  require_same(world.pod("files: ['" + path + "']"), expected);
  require_same(world.pod("files: ['" + path + "'], axes: [Y, X]"), expected);
}

TEST_CASE("files of one record with dates of their own", "[field]") {
  World world;
  const auto expected = world.pod("files: ['" + world.plain() + "']");
  const auto first = world.plain("a.h5", 0, 2),
             second = world.plain("b.h5", 2, n_time, "days since 2000-02-01T00:00Z", 31.0);
  require_same(world.pod("files: ['" + first + "', '" + second + "']"), expected);
  // a coordinate of one number, and a file without a dimension of time
  std::string files = "'" + world.plain("c.h5", 0, 5) + "'";
  files += ", '" + world.write("d.h5", [](io::File& f) {
    f.write("q", io::tensor_of(World::values(5, 6).data(), {n_lat, n_lon}));
    World::coordinates(f);
    f.attach_scales("q", {"lat", "lon"});
    f.write("time", 150.0 * 24.0).set_attribute("units", "hours since 2000-01-01");
  }) + "'";
  require_same(world.pod("files: [" + files + "]"), expected);
}

TEST_CASE("a mask's fills are land", "[field]") {
  World world;
  const auto field = world.plain();
  auto cells = [&](const std::string& keys) {
    world.pod("files: ['" + field + "'], " + keys);
    const auto n = io::File::open(world.file("pod.h5")).attribute<std::int64_t>("cells");
    world.comm.barrier();
    return n;
  };
  const auto mask = world.write("mask.h5", [](io::File& f) {
    std::vector<std::int32_t> land(n_lat * n_lon, 1);
    land[3] = -999;
    land[7] = 0;
    auto array = f.write("mask", io::tensor_of(land.data(), {1, n_lat, n_lon}));
    array.set_attribute("_FillValue", -999);
    f.write("time", std::vector<double>{0});
    World::coordinates(f);
  });
  CHECK(cells("mask: {file: '" + mask + "', array: mask}") == n_lat * n_lon - 2);
}

TEST_CASE("the calendar of a field is the calendar of its modes and the year of its forecasts", "[series]") {
  World world;
  for (const auto& [calendar, year] : {std::pair{"360_day", 360.0},
                                       {"noleap", 365.0},
                                       {"all_leap", 366.0},
                                       {"julian", 365.25},
                                       {"standard", 365.2425}}) {
    const auto made =
        world.pod("files: ['" + world.plain("f.h5", 0, n_time, "days since 2000-01-01", 0.0, calendar) + "']");
    CHECK(made.calendar == calendar);
    CHECK(made.unit == "days since 2000-01-01");
    SeriesParams params;
    params.file = world.file("pod.h5");
    const Series series = read_series(params, world.comm);
    ForecastOptions options;
    CHECK(options.period_days(series) == year);
    CHECK(options.baselines(series).period == year);
    CHECK(coarse_times(series, year).empty());
    CHECK(coarse_times(series, 30.0).find("the series has a time every 30 days") == 0);
    for (const auto& [text, days] :
         {std::pair{"360", 360.0}, {"12 samples", 360.0}, {"2 years", 2 * year}, {"52 weeks", 364.0}}) {
      options.period = text;
      CHECK(options.period_days(series) == Approx(days));
    }
    world.comm.barrier();
  }
}

TEST_CASE("packed coefficients and times of a series are unpacked, missing ones refused", "[series]") {
  World world;
  const auto series = [&](std::int32_t fill) {
    SeriesParams params;
    params.file = world.write("series.h5", [&](io::File& f) {
      const std::vector<std::int32_t> stored{0, 10, 20, 30, -40, 50};
      auto array = f.write("coefficients", io::tensor_of(stored.data(), {3, 2}));
      array.set_attribute("scale_factor", 0.5);
      array.set_attribute("add_offset", 1.0);
      array.set_attribute("_FillValue", fill);
      auto time = f.write("time", std::vector<std::int32_t>{0, 1, 2});
      time.set_attribute("scale_factor", 7.0);
      time.set_attribute("units", "days since 2000-01-01");
    });
    return read_series(params, world.comm);
  };
  const Series read = series(-999);
  CHECK(read.train.a.a == std::vector<double>{1, 6, 11, 16, -19, 26});
  CHECK(read.spacing() == 7.0);
  CHECK_THROWS_WITH(series(-40), Catch::Contains("is not finite at time 2, mode 0"));
}

TEST_CASE("what is too large to be read through is looked at in its first snapshot", "[field]") {
  World world;
  FieldParams params;
  params.array = "q";
  params.files = {world.plain()};
  Field whole(params, AreaWeights::none, {}, 1e9, world.context);
  CHECK(whole.look_through(1e9));
  CHECK(!whole.look_through(8.0));
  params.files = {world.write("hole.h5", [](io::File& f) {
    auto q = World::values(0, n_time);
    q[6] = std::nan("");
    f.write("q", io::tensor_of(q.data(), {n_time, n_lat, n_lon}));
    World::coordinates(f);
    f.write("time", std::vector<double>{0, 1, 2, 3, 4, 5}).set_attribute("units", "days since 2000-01-01");
  })};
  Field hole(params, AreaWeights::none, {}, 1e9, world.context);
  std::string text = "no error";
  try {
    hole.look_through(8.0);
  } catch (const InputError& error) {
    text = error.what();
  }
  CHECK(text ==
        "'q' is NaN or missing in the first snapshot at lat 0, lon 180 and no mask leaves that cell out; name a mask, "
        "or set missing: land (never any), drop or fill");
}

TEST_CASE("months since a date become days", "[field]") {
  World world;
  auto made = world.pod("files: ['" + world.plain("m.h5", 0, n_time, "months since 1960-01-01", 0.0, "360_day") + "']");
  CHECK(made.unit == "days since 1960-01-01 00:00:00");
  CHECK(made.time[1] == 900.0);
  CHECK(world.log.warnings().empty());
  made = world.pod("files: ['" + world.plain("m.h5", 0, n_time, "months since 1960-01-01", 0.0, "noleap") + "']");
  CHECK(made.time[1] == Approx(30.0 * 365.0 / 12.0));
  REQUIRE(world.log.warnings().size() == 1);
  CHECK(world.log.warnings()[0].text ==
        "times are in 'months since 1960-01-01': a month is taken as 30.42 days, a twelfth of the calendar's mean "
        "year, as "
        "UDUNITS does; CDO takes calendar months");
}
