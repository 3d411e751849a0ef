// Data sets of fields and images: what a sample holds, files in the layout of the output fields, arrays of ensembles.
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/pretrain/datasets/field_archive.hpp"
#include "plugins/pretrain/datasets/images.hpp"
#include "plugins/pretrain/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::pretrain;
using cambium::train::testing::World;

namespace {

/// (t, x, z) with values that say where they are.
void write_run(const std::string& path, std::int64_t nx = 4) {
  auto file = io::File::create(path);
  std::vector<double> time{0.0, 0.5, 1.0}, x(static_cast<std::size_t>(nx), 0.0), z{0.25, 0.75};
  file.write("/scales/sim_time", time);
  file.write("/scales/x", x).set_attribute("periodic", 1);
  file.write("/scales/z", z);
  for (int c = 0; c < 2; ++c) {
    std::vector<float> values;
    for (int t = 0; t < 3; ++t)
      for (std::int64_t k = 0; k < nx * 2; ++k) values.push_back(static_cast<float>(1000 * c + 100 * t + k));
    file.write(c == 0 ? "/tasks/b" : "/tasks/w", io::tensor_of(values.data(), {3, nx, 2}));
  }
}

}  // namespace

TEST_CASE("moments of files become samples with partner, parameters, run and time") {
  World world;
  const Scratch scratch;
  write_run(scratch.file("a.h5"));
  write_run(scratch.file("b.h5"));
  FieldArchive::Params keys;
  keys.files = {scratch.file("a.h5"), scratch.file("b.h5")};
  keys.fields = {"w", "b"};
  keys.parameters = {{"rayleigh", {1e4, 1e5}}};
  keys.apart = 1;
  FieldArchive data(keys, world.context);
  data.open(world.context);
  REQUIRE(data.size() == 4);
  const Table table = read_table(data);
  CHECK(table.shape.cells == std::vector<std::int64_t>{4, 2});
  CHECK(table.shape.periodic == std::vector<std::int64_t>{1, 0});
  CHECK(table.simulation == std::vector<std::int64_t>{0, 0, 1, 1});
  CHECK(table.time == std::vector<double>{0.0, 0.5, 0.0, 0.5});
  CHECK(table.parameters(3, 0) == 1e5);
  CHECK(table.field(1, 0) == 1100.0);     // w at the second moment
  CHECK(table.field(1, 8 + 3) == 103.0);  // b
  CHECK(table.partner(1, 0) == 1200.0);
  keys.times = {0.4, 1.1};
  keys.apart = 0;
  FieldArchive later(keys, world.context);
  later.open(world.context);
  CHECK(later.size() == 4);
  CHECK(read_table(later).time == std::vector<double>{0.5, 1.0, 0.5, 1.0});
}

TEST_CASE("an array of an ensemble is read simulation by simulation") {
  World world;
  const Scratch scratch;
  std::vector<float> values(2 * 3 * 2 * 4);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k);
  io::File::create(scratch.file("e.h5")).write("frames", io::tensor_of(values.data(), {2, 3, 2, 4}));
  FieldArchive::Params keys;
  keys.files = {scratch.file("e.h5")};
  keys.array = "frames";
  keys.periodic = {0, 1};
  FieldArchive data(keys, world.context);
  data.open(world.context);
  const Table table = read_table(data);
  REQUIRE(table.rows() == 6);
  CHECK(table.shape.periodic == std::vector<std::int64_t>{0, 1});
  CHECK(table.simulation == std::vector<std::int64_t>{0, 0, 0, 1, 1, 1});
  CHECK(table.field(4, 3) == 4 * 8 + 3);
}

TEST_CASE("packed arrays are unpacked, missing numbers and coefficients of Dedalus are refused") {
  World world;
  const Scratch scratch;
  const auto path = scratch.file("e.h5");
  std::vector<std::int32_t> stored(2 * 3 * 2 * 4);
  for (std::size_t k = 0; k < stored.size(); ++k) stored[k] = static_cast<std::int32_t>(k);
  const auto write = [&](std::int32_t fill) {
    auto file = io::File::create(path);
    auto set = file.write("frames", io::tensor_of(stored.data(), {2, 3, 2, 4}));
    set.set_attribute("scale_factor", 0.5);
    set.set_attribute("add_offset", 10.0);
    set.set_attribute("_FillValue", fill);
  };
  FieldArchive::Params keys;
  keys.files = {path};
  keys.array = "frames";
  const auto archive = [&] {
    FieldArchive data(keys, world.context);
    data.open(world.context);
    return read_table(data);
  };
  write(-1);
  CHECK(archive().field(4, 3) == 10.0 + 0.5 * (4 * 8 + 3));
  write(9);
  CHECK_THROWS_WITH(archive(), Catch::StartsWith("'" + path + "': frames is not finite in snapshot 1;"));
  write_run(path);
  io::File::append(path).dataset("/tasks/b").set_attribute("grid_space", std::vector<int>{0, 0});
  keys.array.clear();
  keys.fields = {"b"};
  CHECK_THROWS_WITH(archive(), "'/tasks/b' in '" + path +
                                   "' holds coefficients of a basis, expected values at points; save the task with "
                                   "layout='g'");
}

TEST_CASE("moments are chosen by number, partners are the next that are taken, anomalies have no mean over runs") {
  World world;
  FieldArchive::Params keys;
  keys.made_up = MadeUpFields{.simulations = 3, .moments = 5, .cells = {4, 4}};
  FieldArchive whole(keys, world.context);
  whole.open(world.context);
  const Table all = read_table(whole);
  keys.without_moments = {2};
  keys.apart = 1;
  keys.anomalies = true;
  FieldArchive rest(keys, world.context);
  rest.open(world.context);
  const Table table = read_table(rest);
  CHECK(table.moment == std::vector<std::int64_t>{0, 1, 3, 0, 1, 3, 0, 1, 3});
  for (std::int64_t k = 0; k < 3; ++k) {
    const std::int64_t of[] = {0, 1, 3}, next[] = {1, 3, 4};
    for (const std::int64_t cell : {0, 17, 47}) {
      const auto mean = [&](std::int64_t m) {
        return (all.field(m, cell) + all.field(5 + m, cell) + all.field(10 + m, cell)) / 3.0;
      };
      CHECK(table.field(3 + k, cell) == Approx(all.field(5 + of[k], cell) - mean(of[k])).margin(1e-6));
      CHECK(table.partner(3 + k, cell) == Approx(all.field(5 + next[k], cell) - mean(next[k])).margin(1e-6));
    }
  }
  keys.without_moments = {};
  keys.moments = {2};
  keys.apart = 0;
  FieldArchive one(keys, world.context);
  one.open(world.context);
  CHECK(read_table(one).moment == std::vector<std::int64_t>{2, 2, 2});
  keys.moments = {5};
  FieldArchive none(keys, world.context);
  bool refused = false;
  try {
    none.open(world.context);
  } catch (const InputError& error) {
    refused = std::string(error.what()).find("5 snapshots, none of which is taken") != std::string::npos;
  }
  CHECK(refused);
}

TEST_CASE("made-up runs have their parameters whatever the seed, drift as they say, and stay within times") {
  World world;
  MadeUpFields made;
  made.simulations = 5;
  made.moments = 4;
  const Archive one = make_fields(made);
  made.seed = 2;
  const Archive two = make_fields(made);
  for (std::size_t s = 0; s < 5; ++s) CHECK(one.simulations[s].parameters == two.simulations[s].parameters);
  CHECK(one.simulations[0].values != two.simulations[0].values);
  // Incompressible: the mean of w over x vanishes, and so does that of u over z.
  const auto& v = one.simulations[2].values;
  for (std::int64_t j = 0; j < 16; ++j) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < 32; ++i) sum += v[(2 * 32 + i) * 16 + j];
    CHECK(std::abs(sum) < 1e-3);
  }
  FieldArchive::Params keys;
  keys.made_up = made;
  keys.times = {0.15, 0.35};
  FieldArchive data(keys, world.context);
  data.open(world.context);
  CHECK(data.size() == 10);
}

TEST_CASE("images come whole or as halves, whole numbers between 0 and 1") {
  World world;
  const Scratch scratch;
  std::vector<std::uint8_t> values(3 * 4 * 4);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::uint8_t>(k);
  std::vector<std::int64_t> labels{7, 8, 9};
  {
    auto file = io::File::create(scratch.file("i.h5"));
    file.write("images", io::tensor_of(values.data(), {3, 4, 4}));
    file.write("before", io::tensor_of(values.data(), {3, 1, 4, 4}));
    file.write("behind", io::tensor_of(values.data(), {3, 4, 4, 1}));
    file.write("two", io::tensor_of(values.data(), {3, 2, 4, 2}));
    file.write("labels", labels);
  }
  Images::Params keys;
  keys.file = scratch.file("i.h5");
  keys.images = "images";
  keys.labels = "labels";
  keys.halves = Images::Halves::left_right;
  keys.range = {1, 3};
  Images data(keys, world.context);
  data.open(world.context);
  const Table table = read_table(data);
  REQUIRE(table.rows() == 2);
  CHECK(table.label == std::vector<std::int64_t>{8, 9});
  CHECK(table.field(0, 2) == Approx((16 + 4) / 255.0));
  CHECK(table.partner(0, 0) == Approx((16 + 2) / 255.0));
  for (const char* name : {"before", "behind"}) {  // an axis of one channel
    keys.images = name;
    Images one(keys, world.context);
    one.open(world.context);
    const Table same = read_table(one);
    REQUIRE(same.rows() == 2);
    for (std::int64_t k = 0; k < 8; ++k) {
      CHECK(same.field(0, k) == table.field(0, k));
      CHECK(same.partner(1, k) == table.partner(1, k));
    }
  }
  keys.images = "two";
  Images two(keys, world.context);
  CHECK_THROWS_WITH(two.open(world.context), Catch::Contains("two has 4 axes; samples, rows and columns are read"));
  keys = {};
  keys.made_up = MadeUpImages{.samples = 12, .size = 8, .classes = 3};
  Images made(keys, world.context);
  made.open(world.context);
  CHECK(made.size() == 12);
  CHECK(read_table(made).label[5] == 2);
}
