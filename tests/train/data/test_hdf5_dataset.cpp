#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <thread>

#include "core/base/timing.hpp"
#include "core/io/hdf5/h5_recode.hpp"
#include "core/train/data/shard_files.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"
#include "tests/train/data/sample_shards.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// Shards of 10, 7 and 5 samples.
std::vector<std::string> three_shards(const SharedScratch& scratch, std::int64_t chunk = 0) {
  if (scratch.comm.root()) {
    write_shard(scratch.file("part_0.h5"), {.first = 0, .rows = 10, .chunk = chunk});
    write_shard(scratch.file("part_1.h5"), {.first = 10, .rows = 7, .chunk = chunk});
    write_shard(scratch.file("part_2.h5"), {.first = 17, .rows = 5, .chunk = chunk});
  }
  scratch.comm.barrier();
  return {scratch.file("part_*.h5")};
}

std::vector<std::int64_t> range(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> out(last - first);
  std::iota(out.begin(), out.end(), first);
  return out;
}

/// The message of opening a set, without the folder of the test.
std::string refusal(World& world, const SharedScratch& scratch, Hdf5Dataset::Params params, bool then_read = false) {
  std::string text = message([&] {
    Hdf5Dataset data(params, world.context);
    data.open(world.context);
    if (then_read) data.read(range(0, data.size()));
  });
  for (std::size_t at; (at = text.find(scratch.folder + "/")) != std::string::npos;)
    text.erase(at, scratch.folder.size() + 1);
  return text;
}

}  // namespace

TEST_CASE("samples of a compressed array do not decode all of it, each anew") {
  World world;
  SharedScratch scratch(world.comm);
  if (world.comm.root()) {
    std::vector<float> x(500 * 2000);
    for (std::size_t k = 0; k < x.size(); ++k)
      x[k] = static_cast<float>(std::sin(0.01 * static_cast<double>(k % 2000) + 0.1 * static_cast<double>(k / 2000)));
    io::File file = io::File::create(scratch.file("plain.h5"));
    file.write("x", io::tensor_of(x.data(), {500, 2000}));
    file.close();
    io::Compression compress;
    compress.relative = 1e-3;
    io::compress_file(scratch.file("plain.h5"), scratch.file("packed.h5"), compress);
  }
  world.comm.barrier();
  Hdf5Dataset data({{scratch.file("packed.h5")}, {{"x", "", {}}}, {}, false}, world.context);
  data.open(world.context);
  const auto seconds = [&](std::int64_t first, std::int64_t count) {
    const double begin = wall_seconds();
    for (std::int64_t id = first; id < first + count; ++id) {
      const auto sample = data.read(std::vector<std::int64_t>{id}).front();
      const auto* x = static_cast<const float*>(sample->fields.at("x").data);
      CHECK(x[700] == Approx(std::sin(7.0 + 0.1 * static_cast<double>(id))).margin(2.001e-3));
    }
    return wall_seconds() - begin;
  };
  const double once = seconds(499, 1);
  CHECK(seconds(0, 200) < 30.0 * once);
}

TEST_CASE("samples of several shards are numbered through") {
  World world;
  SharedScratch scratch(world.comm);
  const std::int64_t chunk = GENERATE(0, 4);
  Hdf5Dataset data(shard_params(three_shards(scratch, chunk)), world.context);
  data.open(world.context);
  CHECK(data.size() == 22);
  const auto fields = data.fields();
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].name == "x");
  CHECK(fields[0].unit == "eV");
  CHECK(fields[0].shape == std::vector<std::int64_t>{3});
  CHECK(fields[1].dtype == DType::i32);
  const std::vector<std::int64_t> ids{0, 1, 3, 9, 10, 16, 17, 21};
  const auto samples = data.read(ids);
  REQUIRE(samples.size() == ids.size());
  for (std::size_t k = 0; k < ids.size(); ++k) {
    CHECK(samples[k]->id == ids[k]);
    CHECK(x_of(*samples[k], 0) == 1000.0 * static_cast<double>(ids[k]));
    CHECK(x_of(*samples[k], 2) == 1000.0 * static_cast<double>(ids[k]) + 2);
    CHECK(*static_cast<const std::int32_t*>(samples[k]->fields.at("label").data) == ids[k]);
    CHECK(samples[k]->bytes == 128);
  }
}

TEST_CASE("bytes are counted by what storage has to give") {
  World world;
  SharedScratch scratch(world.comm);
  SECTION("rows where an array lies in one piece") {
    Hdf5Dataset data(shard_params(three_shards(scratch)), world.context);
    data.open(world.context);
    data.read(std::vector<std::int64_t>{2, 5, 6});
    CHECK(data.bytes_read() == 3 * (3 * 8 + 4));
    CHECK(data.chunk_of(5) == std::pair<std::int64_t, std::int64_t>{5, 6});
  }
  SECTION("whole chunks, each once for all samples in it, within its shard") {
    Hdf5Dataset data(shard_params(three_shards(scratch, 4)), world.context);
    data.open(world.context);
    data.read(std::vector<std::int64_t>{4, 7});
    CHECK(data.bytes_read() == 4 * 3 * 8 + 4 * 4);  // one chunk of x, labels 4 to 7
    CHECK(data.chunk_of(5) == std::pair<std::int64_t, std::int64_t>{4, 8});
    CHECK(data.chunk_of(9) == std::pair<std::int64_t, std::int64_t>{8, 10});
    CHECK(data.chunk_of(15) == std::pair<std::int64_t, std::int64_t>{14, 17});
    CHECK(data.chunk_of(21) == std::pair<std::int64_t, std::int64_t>{21, 22});
  }
}

#ifdef __linux__
TEST_CASE("bytes counted are those that the process reads") {
  World world;
  SharedScratch scratch(world.comm);
  if (world.comm.root()) write_shard(scratch.file("large.h5"), {.rows = 4000, .width = 100});
  world.comm.barrier();
  Hdf5Dataset data(shard_params({scratch.file("large.h5")}), world.context);
  data.open(world.context);
  data.read(std::vector<std::int64_t>{0});  // opens the file and its arrays
  const auto read_by_process = [] {
    std::ifstream in("/proc/self/io");
    std::string name;
    std::int64_t bytes = 0;
    in >> name >> bytes;
    return bytes;
  };
  const auto itself = read_by_process(), look = read_by_process() - itself;
  const auto counted = data.bytes_read(), before = read_by_process();
  for (std::int64_t k = 0; k < 300; ++k) data.read(std::vector<std::int64_t>{(k * 1237 + 11) % 4000});
  const auto asked = data.bytes_read() - counted;
  CHECK(asked == 300 * (800 + 4));
  CHECK(read_by_process() - before - look == asked);
}
#endif

TEST_CASE("a set that fits into the cache is read once") {
  World world;
  SharedScratch scratch(world.comm);
  if (world.comm.root()) write_shard(scratch.file("large.h5"), {.rows = 4000, .width = 100});
  world.comm.barrier();
  const double mib = 4000.0 * (832 + 64) / 1048576;  // fields begin at cache lines
  const auto twice = [&](double cache) {
    Hdf5Dataset data(shard_params({scratch.file("large.h5")}, cache), world.context);
    data.open(world.context);
    for (int turn = 0; turn < 2; ++turn) {
      const auto samples = data.read(std::vector<std::int64_t>{5, 6, 9, 3999});
      REQUIRE(samples.size() == 4);
      for (const auto& sample : samples) CHECK(x_of(*sample, 3) == 1000.0 * static_cast<double>(sample->id) + 3);
    }
    return data.bytes_read() / 804;
  };
  CHECK(twice(1.01 * mib) == 4);
  CHECK(twice(0.99 * mib) == 8);
  CHECK(twice(0.0) == 8);
}

TEST_CASE("a range takes part of the files, its samples count from 0") {
  World world;
  SharedScratch scratch(world.comm);
  auto params = shard_params(three_shards(scratch, 4));
  params.range = {{9, 19}};
  Hdf5Dataset data(params, world.context);
  data.open(world.context);
  CHECK(data.size() == 10);
  CHECK(x_of(*data.read(std::vector<std::int64_t>{1}).front(), 0) == 10000.0);
  CHECK(data.chunk_of(0) == std::pair<std::int64_t, std::int64_t>{0, 1});
  CHECK(data.chunk_of(9) == std::pair<std::int64_t, std::int64_t>{8, 10});
  params.range = {{9, 23}};
  CHECK(refusal(world, scratch, params) == "range [9, 23]: the files hold 22 samples; give 0 <= first < last <= 22");
}

TEST_CASE("files come in the order of their numbers") {
  World world;
  SharedScratch scratch(world.comm);
  if (world.comm.root())
    for (int k = 1; k <= 11; ++k) write_shard(scratch.file("p" + std::to_string(k) + ".h5"), {.first = k});
  world.comm.barrier();
  const auto files = shard_files(std::vector<std::string>{scratch.file("p*.h5")});
  REQUIRE(files.size() == 11);
  CHECK(files[1] == scratch.file("p2.h5"));
  CHECK(files[10] == scratch.file("p11.h5"));
}

TEST_CASE("what is wrong with the files of a set") {
  World world;
  SharedScratch scratch(world.comm);
  const auto good = three_shards(scratch);
  auto named = [&](const std::string& second) {
    return shard_params({scratch.file("part_0.h5"), scratch.file(second)});
  };
  auto write = [&](const ShardSpec& spec) {
    if (world.comm.root()) write_shard(scratch.file("other.h5"), spec);
    world.comm.barrier();
  };
  CHECK(refusal(world, scratch, shard_params({scratch.file("nothing_*.h5")})) ==
        "no file matches 'nothing_*.h5'; check the path (relative paths start at the folder where the program was "
        "started)");
  CHECK(refusal(world, scratch, named("part_0.h5")) ==
        "'part_0.h5' is listed twice; remove it, or let its samples recur by weights (data set mixture)");
  CHECK(refusal(world, scratch, shard_params({scratch.file("part_*.h5"), scratch.file("./part_1.h5")})) ==
        "'./part_1.h5' is listed twice; remove it, or let its samples recur by weights (data set mixture)");
  CHECK(refusal(world, scratch, named("part_7.h5")) ==
        "cannot open 'part_7.h5': there is no such file; check the path (relative paths start at the folder where the "
        "program was started)");
  write({.first = 10, .rows = 7, .width = 4});
  CHECK(refusal(world, scratch, named("other.h5")) ==
        "array '/x' has samples of shape (3) in 'part_0.h5' but (4) in 'other.h5'; all shards of a data set need the "
        "same shape");
  write({.first = 10, .rows = 7, .unit = "kcal/mol"});
  CHECK(refusal(world, scratch, named("other.h5")) ==
        "array '/x' has the unit 'eV' in 'part_0.h5' but the unit 'kcal/mol' in 'other.h5'; convert one of them and "
        "correct its attribute 'unit'");
  auto expects = shard_params(good);
  expects.fields[0].unit = "K";
  CHECK(refusal(world, scratch, expects) ==
        "array '/x' in 'part_0.h5' has the unit 'eV', the deck expects the unit 'K' for the field 'x'; correct the "
        "deck's key 'unit' or convert the array");
  auto absent = shard_params(good);
  absent.fields[0].array = "y";
  CHECK(refusal(world, scratch, absent) == "'part_0.h5' has no dataset '/y'; '/' holds: label, x");
  if (world.comm.root()) std::filesystem::remove(scratch.file("part_1.h5"));
  world.comm.barrier();
  CHECK(refusal(world, scratch, shard_params(good)) ==
        "shard 'part_1.h5' is missing between 'part_0.h5' and 'part_2.h5' of 'part_*.h5'; copy it again, or list the "
        "files by name to train without it");
}

TEST_CASE("arrays of one file have as many samples as each other") {
  World world;
  SharedScratch scratch(world.comm);
  if (world.comm.root()) {
    auto file = io::File::create(scratch.file("a.h5"));
    file.write("x", std::vector<double>(7));
    file.write("label", std::vector<int>(6));
    file.write("one", 1.0);
    file.close();
  }
  world.comm.barrier();
  CHECK(refusal(world, scratch, shard_params({scratch.file("a.h5")})) ==
        "'a.h5' holds 7 samples in 'x' but 6 in 'label'; the first axis of every array counts the same samples");
  CHECK(refusal(world, scratch, {{scratch.file("a.h5")}, {{"one", "", {}}}, {}, false}) ==
        "array '/one' in 'a.h5' is a scalar; a field needs an array whose first axis counts samples");
}

TEST_CASE("a number that is not finite is named with its place") {
  World world;
  SharedScratch scratch(world.comm);
  three_shards(scratch);
  if (world.comm.root()) {
    auto file = io::File::append(scratch.file("part_1.h5"));
    const double bad = std::numeric_limits<double>::quiet_NaN();
    file.dataset("x").write_block(std::vector<std::int64_t>{3, 1}, io::tensor_of(&bad, {1, 1}));
    file.close();
  }
  world.comm.barrier();
  const std::string expected =
      "'part_1.h5' holds nan in array 'x', sample 13 (row 3 of the file); correct it or leave the sample out";
  auto params = shard_params({scratch.file("part_*.h5")});
  CHECK(refusal(world, scratch, params) == "no error");
  CHECK(refusal(world, scratch, params, true) == expected);
  params.scan = true;
  CHECK(refusal(world, scratch, params) == expected);
}

namespace {

/// A file with "x", whose attributes are written by `mark`, and "label" (0, 1, ...).
template <class T>
void write_marked(const SharedScratch& scratch, const std::vector<T>& x, const std::function<void(io::File&)>& mark) {
  scratch.comm.barrier();  // whoever reads the file before
  if (scratch.comm.root()) {
    auto file = io::File::create(scratch.file("marked.h5"));
    file.write("x", io::tensor_of(x.data(), {std::ssize(x) / 2, 2}));
    std::vector<std::int32_t> label(x.size() / 2);
    std::iota(label.begin(), label.end(), 0);
    file.write("label", label);
    mark(file);
    file.close();
  }
  scratch.comm.barrier();
}

}  // namespace

TEST_CASE("packed and unsigned numbers are what their attributes make of them") {
  World world;
  SharedScratch scratch(world.comm);
  const auto first = [&] {
    Hdf5Dataset data(shard_params({scratch.file("marked.h5")}), world.context);
    data.open(world.context);
    CHECK(data.fields()[0].dtype == DType::f64);
    CHECK(data.fields()[1].dtype == DType::i32);
    const auto samples = data.read(range(0, 3));
    CHECK(*static_cast<const std::int32_t*>(samples[2]->fields.at("label").data) == 2);
    return std::vector{x_of(*samples[0], 0), x_of(*samples[0], 1), x_of(*samples[2], 1)};
  };
  write_marked<std::int32_t>(scratch, {10, -20, 30, 40, 50, 60}, [](io::File& file) {
    file.dataset("x").set_attribute("scale_factor", 0.5);
    file.dataset("x").set_attribute("add_offset", 280.0);
    file.dataset("x").set_attribute("_FillValue", std::int32_t{-999});
  });
  CHECK(first() == std::vector{285.0, 270.0, 310.0});
  write_marked<std::int8_t>(scratch, {1, -1, 3, 4, 5, -128},
                            [](io::File& file) { file.dataset("x").set_attribute("_Unsigned", std::string("true")); });
  CHECK(first() == std::vector{1.0, 255.0, 128.0});
}

TEST_CASE("numbers that stand for missing ones are refused, and no others") {
  World world;
  SharedScratch scratch(world.comm);
  const auto params = shard_params({scratch.file("marked.h5")});
  const std::string expected =
      "'marked.h5' holds -999 in array 'x', sample 1 (row 1 of the file), which is missing there by _FillValue, "
      "missing_value, a valid range or the fill of its type; leave the sample out, or correct the attributes (ncatted)";
  for (const char* name : {"_FillValue", "missing_value"}) {
    write_marked<float>(scratch, {1, 2, 3, -999, 5, 6},
                        [&](io::File& file) { file.dataset("x").set_attribute(name, -999.0f); });
    CHECK(refusal(world, scratch, params, true) == expected);
    auto others = params;
    others.range = std::array<std::int64_t, 2>{2, 3};
    CHECK(refusal(world, scratch, others, true) == "no error");
  }
  write_marked<std::int32_t>(scratch, {1, 2, 3, -999, 5, 6},
                             [](io::File& file) { file.dataset("x").set_attribute("valid_min", std::int32_t{0}); });
  CHECK(refusal(world, scratch, params, true) == expected);
  write_marked<float>(scratch, {1, 2, 3, -999, 5, 6}, [](io::File&) {});
  CHECK(refusal(world, scratch, params, true) == "no error");
  auto given = params;
  given.fields[0].fill = {-999};
  CHECK(refusal(world, scratch, given, true) == expected);
  write_marked<float>(scratch, {1, 2, 3, 9.96921e36f, 5, 6},
                      [](io::File& file) { file.set_attribute("_NCProperties", std::string("version=2")); });
  CHECK(refusal(world, scratch, params, true).starts_with("'marked.h5' holds 9.96"));
  write_marked<float>(scratch, {1, 2, 3, 4, 5, 6}, [](io::File& file) {
    file.set_attribute("_NCProperties", std::string("version=2"));
    file.dataset("x").set_attribute("_FillValue", -999.0f);
  });
  Hdf5Dataset data(params, world.context);
  data.open(world.context);
  CHECK(data.fields()[0].dtype == DType::f32);
  CHECK(static_cast<const float*>(data.read(range(0, 3))[1]->fields.at("x").data)[1] == 4.0f);
}

TEST_CASE("a dimension of netCDF and text of MATLAB hold no numbers") {
  World world;
  SharedScratch scratch(world.comm);
  const auto params = shard_params({scratch.file("marked.h5")});
  write_marked<float>(scratch, {1, 2, 3, 4, 5, 6}, [](io::File& file) {
    file.set_attribute("_NCProperties", std::string("version=2"));
    file.dataset("x").set_attribute("NAME",
                                    std::string("This is a netCDF dimension but not a netCDF variable         3"));
  });
  CHECK(refusal(world, scratch, params) ==
        "'/x' in 'marked.h5' gives a dimension of netCDF its length and holds no values; name a variable");
  write_marked<float>(scratch, {1, 2, 3, 4, 5, 6}, [](io::File& file) {
    file.set_attribute("_NCProperties", std::string("version=2"));
    file.dataset("x").set_attribute("NAME",
                                    std::string("This is a netCDF dimension but not a netCDF variable         3"));
    file.write("_nc4_non_coord_x", std::vector<double>{1, 2, 3});
  });
  CHECK(refusal(world, scratch, params) ==
        "'/x' in 'marked.h5' gives a dimension of netCDF its length and holds no values; the variable of this name is "
        "the array '_nc4_non_coord_x'");
  write_marked<float>(scratch, {1, 2, 3, 4, 5, 6}, [](io::File& file) {
    file.dataset("x").set_ascii_attribute("MATLAB_class", std::string("char"));
  });
  CHECK(refusal(world, scratch, params) ==
        "array '/x' in 'marked.h5' is text of MATLAB, expected numbers; name another array");
  write_marked<float>(scratch, {1, 2, 3, 4, 5, 6}, [](io::File& file) {
    file.dataset("x").set_ascii_attribute("MATLAB_class", std::string("double"));
    file.dataset("x").set_attribute("MATLAB_empty", 1);
  });
  CHECK(refusal(world, scratch, params) ==
        "array '/x' in 'marked.h5' is an empty array of MATLAB, expected numbers; name another array");
}

TEST_CASE("chunks that were never written are warned of") {
  World world;
  SharedScratch scratch(world.comm);
  const auto path = scratch.file("marked.h5");
  for (const std::int64_t rows : {6000, 60000}) {
    if (world.comm.root()) {
      io::File file = io::File::create(path);
      auto x = file.create_series("x", DType::f32, std::vector<std::int64_t>{4});
      x.resize(6000);
      const std::vector<float> values(24000, 1.0F);
      const std::int64_t start[] = {0, 0};
      x.write_block(start, io::tensor_of(values.data(), {6000, 4}));
      x.resize(rows);
      file.write("label", std::vector<std::int32_t>(static_cast<std::size_t>(rows), 0));
      file.close();
    }
    world.comm.barrier();
    Hdf5Dataset data(shard_params({path}), world.context);
    data.open(world.context);
    if (!world.comm.root()) continue;
    const auto warnings = world.log.warnings();
    if (rows == 6000) {
      CHECK(warnings.empty());
    } else {
      REQUIRE(warnings.size() == 1);
      CHECK(warnings[0].text ==
            "array '/x' in '" + path +
                "': 53 of 59 chunks were never written, and HDF5 gives zeros (or the array's fill value) for them; "
                "where the file is not complete, take the samples that are (range: [0, N])");
    }
  }
}

TEST_CASE("one thread reads while another writes") {
  World world;
  SharedScratch scratch(world.comm);
  Hdf5Dataset data(shard_params(three_shards(scratch, 4)), world.context);
  data.open(world.context);
  bool right = true;
  std::thread reader([&] {
    for (int repeat = 0; repeat < 200; ++repeat)
      for (const auto& sample : data.read(range(0, 22)))
        right = right && x_of(*sample, 1) == 1000.0 * static_cast<double>(sample->id) + 1;
  });
  auto file = io::File::create(scratch.file("out" + std::to_string(world.comm.rank()) + ".h5"));
  auto series = file.create_series("s", DType::f64, std::vector<std::int64_t>{});
  for (int k = 0; k < 2000; ++k) {
    const double value = k;
    series.append(io::tensor_of(&value, {}));
  }
  reader.join();
  CHECK(right);
  CHECK(series.read<std::vector<double>>().at(1999) == 1999.0);
}
