// Bad fields: the exact text.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#ifdef CAMBIUM_HAVE_NETCDF
#include <netcdf.h>
#endif

#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/podlstm/pod/field.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

struct Bad : Stage {
  std::vector<double> q, time{0, 7, 14, 21};
  Bad() {
    for (int t = 0; t < 4; ++t)
      for (int c = 0; c < 6; ++c) q.push_back(std::sin(c + 2.0 * t) + t);
  }
  std::string says(const std::string& keys) {
    if (comm.root())
      io::write_h5_atomically(file("f.h5"), [&](io::File& f) {
        f.write("q", io::tensor_of(q.data(), {4, 2, 3}));
        f.write("lat", std::vector<double>{-30, 30});
        f.write("lon", std::vector<double>{0, 120, 240});
        f.write("time", time).set_attribute("units", "days since 2000-01-01");
      });
    comm.barrier();
    return message("pod", "{field: {files: ['" + file("f.h5") + "'], array: q" + keys);
  }
};

}  // namespace

TEST_CASE("numbers that are not there", "[messages]") {
  Bad bad;
  for (int t = 0; t < 4; ++t) bad.q[6 * t + 4] = std::nan("");
  CHECK(bad.says("}, modes: 1}") ==
        "'q' is NaN or missing in 4 of 4 snapshots at lat 30, lon 120 (first in snapshot 0) and no mask leaves that "
        "cell out; name a mask, or set missing: land");
  CHECK(bad.says(", missing: land}, modes: 1}") == "no error");
  bad.q[6 * 2 + 1] = std::nan("");
  CHECK(bad.says(", missing: land}, modes: 1}") ==
        "'q' is NaN or missing in 1 of 4 snapshots at lat -30, lon 120 (first in snapshot 2) and no mask leaves that "
        "cell out; set missing: drop (leave such cells out) or missing: fill (use the cell's mean over the training "
        "snapshots)");
  CHECK(bad.says(", missing: drop}, modes: 1}") == "no error");
  CHECK(bad.says(", missing: fill}, modes: 1}") == "no error");
}

TEST_CASE("a snapshot without numbers, and a single one", "[messages]") {
  Bad bad;
  for (int c = 0; c < 6; ++c) bad.q[6 * 2 + c] = std::nan("");
  const std::string empty =
      "'q' has no finite value in snapshot 2, as after a run that was interrupted; leave the snapshot out of the file "
      "(cdo delete,timestep=3)";
  if (bad.comm.size() == 1) {
    CHECK(bad.says(", missing: land}, modes: 1}") == empty);
    CHECK(bad.says("}, modes: 1}") == empty);
  }
  Stage stage;
  const auto path = stage.file("one.h5");
  if (stage.comm.root())
    io::write_h5_atomically(path, [&](io::File& f) {
      f.write("q", io::tensor_of(bad.q.data(), {1, 2, 3}));
      f.write("time", std::vector<double>{0}).set_attribute("units", "days since 2000-01-01");
    });
  stage.comm.barrier();
  CHECK(stage.message("pod", "{field: {files: ['" + path + "'], array: q}, modes: 1}") ==
        "'q' of '" + path +
            "' has 1 snapshot, modes need two or more: name the other files (files), or the coordinate that counts "
            "them (time)");
}

TEST_CASE("a fill value that no attribute names is doubted", "[messages]") {
  const auto warned = [](const std::vector<double>& cells, const std::string& keys) {
    Bad bad;
    for (int t = 0; t < 4; ++t)
      for (std::size_t c = 0; c < 6; ++c)
        if (cells[c] != 0.0) bad.q[6 * static_cast<std::size_t>(t) + c] = cells[c];
    CHECK(bad.says(keys + "}, modes: 1}") == "no error");
    for (const auto& warning : bad.log.warnings())
      if (warning.text.starts_with("'q' is ")) return warning.text;
    return std::string();
  };
  const auto named = warned({0, -999, 0, 0, -999, 0}, ""), large = warned({0, 1e20, 0, 0, 1e20, 0}, "");
  CHECK(warned({0, 0, 0, 0, 0, 0}, "").empty());
  CHECK(warned({0, -999, 0, 0, -999, 0}, ", fill: [-999], missing: land").empty());
  CHECK(warned({0, -999, 0, 0, 0, 0}, "").empty());  // one cell may be an extreme
  if (!Comm().root()) return;                        // who does not speak
  CHECK(named ==
        "'q' is -999 in 2 cells of its first snapshot, far from all others (-0.958924 to 0.909297), and the file does "
        "not mark it as missing: if it marks missing data, set fill: [-999] (of packed data the stored value) and "
        "missing: land");
  CHECK(large.starts_with("'q' is 1e+20 in 2 cells"));
}

TEST_CASE("what fills holes of the training snapshots does not depend on later ones", "[field]") {
  Stage stage;
  constexpr int times = 12, training = 8, cells = 6;
  auto coefficients = [&](double later) {
    std::vector<double> q, time;
    for (int t = 0; t < times; ++t) {
      time.push_back(7.0 * t);
      for (int c = 0; c < cells; ++c)
        q.push_back((t < training ? 1.0 : later) * (3.0 + std::sin(c + 2.0 * t) + 0.1 * t));
    }
    q[cells * 3 + 1] = q[cells * 5 + 4] = q[cells * 10 + 2] = std::nan("");
    const auto path = stage.file("holes.h5");
    if (stage.comm.root())
      io::write_h5_atomically(path, [&](io::File& f) {
        f.write("q", io::tensor_of(q.data(), {times, 2, 3}));
        f.write("lat", std::vector<double>{-30, 30});
        f.write("lon", std::vector<double>{0, 120, 240});
        f.write("time", time).set_attribute("units", "days since 2000-01-01");
      });
    stage.comm.barrier();
    stage.run("pod", "{field: {files: ['" + path + "'], array: q, missing: fill}, modes: 2, training: 8}");
    stage.comm.barrier();
    auto out = io::File::open(stage.file("pod.h5")).read<std::vector<double>>("coefficients");
    out.resize(2 * training);
    return out;
  };
  const auto as_they_are = coefficients(1.0), ten_times = coefficients(10.0);
  for (std::size_t k = 0; k < as_they_are.size(); ++k) CHECK(ten_times[k] == as_they_are[k]);
}

TEST_CASE("times and sizes", "[messages]") {
  Bad bad;
  CHECK(bad.says("}, modes: 5}") ==
        "modes: 5 requested, but there are only 4 training snapshots; request at most 4 or add snapshots");
  CHECK(bad.says("}, modes: 4}") ==
        "modes: 4 requested, but the training snapshots vary in 3 direction(s) only; request at most 3");
  CHECK(bad.says("}, modes: 1, training: 9}") == "training: 9 snapshots requested, but 'q' has 4");
  CHECK(bad.says("}, modes: 1, buffer: 1e-6}") ==
        "buffer: one cell takes 3.05e-05 MiB (4 snapshots in float64); give at least that");
  bad.time[2] = 7;
  CHECK(bad.says("}, modes: 1}") ==
        "times of 'q' do not increase: snapshot 2 is at 7, the one before at 7 (days since 2000-01-01); sort the "
        "snapshots, or list the files in order");
}

#ifdef CAMBIUM_HAVE_NETCDF
TEST_CASE("a classic NetCDF file with packed numbers", "[field]") {
  Stage stage;
  if (stage.comm.size() > 1) return;
  int file = 0, dimension[3], time = 0, lat = 0, sst = 0;
  REQUIRE(nc_create(stage.file("c.nc").c_str(), NC_CLOBBER, &file) == NC_NOERR);
  nc_def_dim(file, "time", NC_UNLIMITED, &dimension[0]);
  nc_def_dim(file, "lat", 2, &dimension[1]);
  nc_def_dim(file, "lon", 3, &dimension[2]);
  nc_def_var(file, "time", NC_DOUBLE, 1, dimension, &time);
  nc_def_var(file, "lat", NC_FLOAT, 1, dimension + 1, &lat);
  nc_def_var(file, "sst", NC_SHORT, 3, dimension, &sst);
  const std::string unit = "days since 1800-1-1 00:00:00";
  nc_put_att_text(file, time, "units", unit.size(), unit.c_str());
  const double scale = 0.01, offset = 5.0;
  const short missing = 32767;
  nc_put_att_double(file, sst, "scale_factor", NC_FLOAT, 1, &scale);
  nc_put_att_double(file, sst, "add_offset", NC_FLOAT, 1, &offset);
  nc_put_att_short(file, sst, "missing_value", NC_SHORT, 1, &missing);
  nc_enddef(file);
  const float lats[] = {-10, 10};
  nc_put_var_float(file, lat, lats);
  for (std::size_t t = 0; t < 3; ++t) {
    const double day = 7.0 * static_cast<double>(t);
    short row[6];
    for (int c = 0; c < 6; ++c) row[c] = static_cast<short>(100 * c + static_cast<int>(t));
    row[4] = missing;
    const std::size_t start[] = {t, 0, 0}, count[] = {1, 2, 3};
    nc_put_var1_double(file, time, &t, &day);
    nc_put_vara_short(file, sst, start, count, row);
  }
  nc_close(file);
  const auto field = io::cf::Field::open(stage.file("c.nc"), {"sst", "", {}, {}});
  CHECK(field.shape() == std::vector<std::int64_t>{3, 2, 3});
  CHECK(field.times() == std::vector<double>{0, 7, 14});
  CHECK(field.time_unit().text == unit);
  CHECK(field.axes()[0].name == "lat");
  CHECK(field.axes()[0].values == std::vector<double>{-10, 10});
  std::vector<double> q(4);
  field.read(std::vector<std::int64_t>{1, 0, 1}, std::vector<std::int64_t>{1, 2, 2}, q.data());
  CHECK(q[0] == Approx(5.0 + 0.01 * 101));
  CHECK(q[1] == Approx(5.0 + 0.01 * 201));
  CHECK(std::isnan(q[2]));
  CHECK(q[3] == Approx(5.0 + 0.01 * 501));
}

TEST_CASE("a classic NetCDF file that was cut short is not read as zeros", "[messages]") {
  Stage stage;
  if (stage.comm.size() > 1) return;
  for (const int format : {NC_CLASSIC_MODEL, NC_64BIT_OFFSET, NC_64BIT_DATA})
    for (const bool records : {true, false}) {
      const std::string path = stage.file("cut.nc");
      int file = 0, dimension[2], time = 0, q = 0, flag = 0;
      REQUIRE(nc_create(path.c_str(), NC_CLOBBER | format, &file) == NC_NOERR);
      nc_def_dim(file, "time", records ? NC_UNLIMITED : 3, &dimension[0]);
      nc_def_dim(file, "cell", 5, &dimension[1]);
      nc_def_var(file, "time", NC_DOUBLE, 1, dimension, &time);
      nc_def_var(file, "flag", NC_BYTE, 1, dimension + 1, &flag);
      nc_def_var(file, "q", NC_SHORT, 2, dimension, &q);
      nc_put_att_text(file, time, "units", 21, "days since 2000-01-01");
      nc_enddef(file);
      const signed char flags[] = {1, 2, 3, 4, 5};
      nc_put_var_schar(file, flag, flags);
      for (std::size_t t = 0; t < 3; ++t) {
        const double day = 1.0 + static_cast<double>(t);
        const short row[] = {1, 2, 3, 4, 5};
        const std::size_t start[] = {t, 0}, count[] = {1, 5};
        nc_put_var1_double(file, time, &t, &day);
        nc_put_vara_short(file, q, start, count, row);
      }
      nc_close(file);
      const auto read = [&]() -> std::string {
        try {
          std::vector<double> out(15);
          io::cf::Field::open(path, {"q", "", {}, {}})
              .read(std::vector<std::int64_t>{0, 0}, std::vector<std::int64_t>{3, 5}, out.data());
          return out[14] == 5.0 ? "whole" : "wrong";
        } catch (const InputError& error) {
          return error.what();
        }
      };
      CHECK(read() == "whole");
      // Behind the last number are two bytes of padding.
      const auto size = std::filesystem::file_size(path);
      std::filesystem::resize_file(path, size - 2);
      CHECK(read() == "whole");
      std::filesystem::resize_file(path, size - 4);
      CHECK(read() == fmt::format("'{}' is truncated: 'q' ends at byte {}, the file at {}; copy it again from its "
                                  "source, or leave out the records that are missing (ncks -d)",
                                  path, size - 2, size - 4));
    }
}
#endif

TEST_CASE("a classic NetCDF file without libnetcdf", "[messages]") {
  Stage stage;
  if (io::cf::reads_classic_netcdf()) return;
  if (stage.comm.root()) io::write_file_atomically(stage.file("c.nc"), std::string("CDF\x01", 4));
  stage.comm.barrier();
  CHECK(stage.message("pod", "{field: {files: ['" + stage.file("c.nc") + "'], array: q}}").find("libnetcdf-dev") !=
        std::string::npos);
}
