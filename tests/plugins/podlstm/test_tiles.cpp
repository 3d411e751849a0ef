// A series that is larger than the buffer: how often its chunks are read, counted by a filter below the program.
#include <hdf5.h>

#include <algorithm>
#include <cmath>

#include "plugins/podlstm/pod/basis.hpp"
#include "plugins/podlstm/pod/field.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/stage.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

constexpr int n_time = 150, n_lat = 31, n_lon = 44, cells = n_lat * n_lon;
constexpr H5Z_filter_t counter = 399;  // of the numbers that HDF5 leaves to tests

std::int64_t decoded = 0;

/// Changes nothing.
std::size_t count(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
  if (flags & H5Z_FLAG_REVERSE) ++decoded;
  return bytes;
}

double value(int t, int c) {
  double q = 10.0 + 0.1 * c;
  for (int k = 1; k <= 6; ++k) q += 8.0 / (k * k) * std::sin(0.37 * k * c + k) * std::cos(0.5 * k * t + 2.0 * k);
  return q;
}

/// (time, lat, lon) from snapshot `from` on; in one piece without a chunk.
void write(const std::string& path, std::vector<hsize_t> chunk, int from, int to) {
  const auto n = static_cast<hsize_t>(to - from);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const auto put = [&](const char* name, const std::vector<hsize_t>& shape, const std::vector<double>& values,
                       hid_t properties) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Sclose(space);
  };
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (!chunk.empty()) {
    chunk[0] = std::min(chunk[0], n);
    H5Pset_chunk(properties, 3, chunk.data());
    H5Pset_filter(properties, counter, H5Z_FLAG_MANDATORY, 0, nullptr);
  }
  std::vector<double> q, time;
  for (int t = from; t < to; ++t) {
    time.push_back(7.0 * t);
    for (int c = 0; c < cells; ++c) q.push_back(value(t, c));
  }
  put("sst", {n, n_lat, n_lon}, q, properties);
  put("time", {n}, time, H5P_DEFAULT);
  H5Pclose(properties);
  H5Fclose(file);
}

std::int64_t chunks_of(const std::vector<hsize_t>& chunk, int snapshots) {
  const auto along = [](int n, hsize_t each) { return (n + static_cast<int>(each) - 1) / static_cast<int>(each); };
  return std::int64_t{along(snapshots, chunk[0])} * along(n_lat, chunk[1]) * along(n_lon, chunk[2]);
}

Field open(const std::vector<std::string>& files, double buffer, Context& context) {
  FieldParams params;
  params.files = files;
  params.array = "sst";
  params.time = "time";
  return Field(params, AreaWeights::none, std::nullopt, buffer, context);
}

}  // namespace

TEST_CASE("each chunk of a series larger than the buffer is read once, in any number of passes") {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, counter, 1, 1, "counter", nullptr, nullptr, count};
  REQUIRE(H5Zregister(&filter) >= 0);
  Stage stage;
  constexpr double all = 8.0 * n_time * cells;
  // A snapshot; a few; parts of some; all times of a few cells; more than the buffer.
  for (const std::vector<hsize_t>& chunk :
       {std::vector<hsize_t>{1, n_lat, n_lon}, {7, n_lat, n_lon}, {11, 5, 9}, {n_time, 3, 4}, {60, n_lat, n_lon}}) {
    INFO("chunks of " << chunk[0] << " x " << chunk[1] << " x " << chunk[2]);
    const std::vector<std::string> files{stage.file("a.h5"), stage.file("b.h5")};
    constexpr int first = 83;
    if (stage.comm.root()) {
      write(files[0], chunk, 0, first);
      write(files[1], chunk, first, n_time);
      write(stage.file("whole.h5"), {}, 0, n_time);
    }
    stage.comm.barrier();
    const double buffer = all / (9.0 * stage.comm.size());
    Field field = open(files, buffer, stage.context), whole = open({stage.file("whole.h5")}, 1e9, stage.context);
    REQUIRE(field.blocks() > 1);
    decoded = 0;
    const std::int64_t before = field.bytes_read();
    const Basis basis = compute_basis(field, {5, PodMethod::randomized, 10, 60, 1e-11}, stage.context);
    CHECK(field.passes() > 2);
    const std::int64_t there = chunks_of(chunk, first) + chunks_of(chunk, n_time - first);
    const bool fits = 8.0 * static_cast<double>(chunk[0] * chunk[1] * chunk[2]) <= 0.4 * buffer;
    if (fits)
      CHECK(decoded <= there);
    else
      CHECK(decoded <= 12 * there);
    CHECK(decoded > 0);
    const double read = stage.comm.sum(static_cast<double>(field.bytes_read() - before));
    CHECK(read >= all);
    // Ranks share a row. Tiles that end where chunks of all times do are asked for again in each pass.
    const double passes = chunk[0] == n_time ? static_cast<double>(field.passes()) : 1.0;
    CHECK(read <= passes * all * (1.0 + 2.0 * n_lon * stage.comm.size() / cells));
    CHECK(static_cast<double>(field.largest_block()) <= buffer);
    const Basis expected = compute_basis(whole, {5, PodMethod::snapshots, 10, 60, 1e-11}, stage.context);
    for (std::size_t k = 0; k < 5; ++k) CHECK(basis.energy[k] == Approx(expected.energy[k]).epsilon(1e-10));
    CHECK(basis.total_energy == Approx(expected.total_energy).epsilon(1e-11));
    stage.comm.barrier();
  }
}

TEST_CASE("a series in one piece is read where it is wanted and not copied") {
  Stage stage;
  if (stage.comm.root()) write(stage.file("whole.h5"), {}, 0, n_time);
  stage.comm.barrier();
  Field field = open({stage.file("whole.h5")}, 8.0 * n_time * cells / (9.0 * stage.comm.size()), stage.context);
  for (int pass = 0; pass < 2; ++pass) field.for_each_block([](const CellBlock&) {});
  CHECK(stage.comm.sum(static_cast<double>(field.bytes_read())) == 2.0 * 8.0 * n_time * cells);
}

TEST_CASE("a folder that takes no file is named") {
  CHECK_THROWS_WITH(TileCopy("/no/such/folder", {0, 4, 8}, 3),
                    "no file can be made in '/no/such/folder' for the blocks of a field that is larger than 'buffer': "
                    "No such file or "
                    "directory; give a larger 'buffer', or another folder of the run");
}
