// What a model file says of the data that its network has met.
#include "core/io/hdf5/atomic_file.hpp"
#include "core/train/data/memory_set.hpp"
#include "core/train/run/extrapolation.hpp"
#include "core/train/weights/artifact.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::train;

TEST_CASE("a model is known not to be judged by data that it was trained on or chosen by") {
  const Scratch scratch("met");
  for (const char* name : {"train.h5", "choose.h5", "judge.h5"}) io::write_file_atomically(scratch.file(name), "data");
  const auto path = [&](const char* name) { return scratch.file(name); };
  ArtifactInfo info;
  CHECK(met_before(info, "net", path("train.h5")).empty());  // nothing is known
  info.training = "{type: crops, data: [\"" + path("train.h5") + "\"], ratio: [2, 4, 4]}";
  info.chosen_by = "{type: hdf5, files: {path: " + path("choose.h5") + "}}";
  CHECK(met_before(info, "net", path("judge.h5")).empty());
  CHECK(met_before(info, "net", path("train.h5")) ==
        "'net' was trained on '" + path("train.h5") +
            "', so its errors there are smaller than on data that it never met: evaluate it on others");
  const auto round_about = scratch.folder.string() + "/../" + scratch.folder.filename().string() + "/choose.h5";
  CHECK(met_before(info, "net", "{type: hdf5, files: ['" + round_about + "']}") ==
        "'net' was chosen among its steps by its errors on '" + path("choose.h5") +
            "', so its errors there are smaller than on data that it never met: evaluate it on others");
  info.training = "{data: [\"" + path("train.h5") + "#1\"]}";  // another trajectory of the file
  CHECK(met_before(info, "net", path("train.h5") + "#0").empty());
  CHECK_FALSE(met_before(info, "net", path("train.h5") + "#1").empty());
  const auto part = [&](const char* range) {
    return "{type: hdf5, files: ['" + path("train.h5") + "'], range: " + range + "}";
  };
  info.training = part("[0, 48]");
  CHECK(met_before(info, "net", part("[48, 60]")).empty());  // other samples of the file
  CHECK_FALSE(met_before(info, "net", part("[40, 60]")).empty());
  CHECK_FALSE(met_before(info, "net", part("[]")).empty());
}

TEST_CASE("axes in another order are told from axes of one value and from flattened samples") {
  CHECK(axes_differ({3, 8, 8}, {8, 8, 3}));
  CHECK(axes_differ({28, 30}, {30, 28}));
  CHECK_FALSE(axes_differ({1, 28, 30}, {28, 30, 1}));
  CHECK_FALSE(axes_differ({3, 8, 8}, {192}));
  CHECK_FALSE(axes_differ({3, 8, 8}, {3, 9, 9}));
  CHECK_FALSE(axes_differ({}, {1}));
}

TEST_CASE("a column beyond its own range in training is named, however large other columns are") {
  const auto set_of = [](std::vector<double> rows) {  // of temperature, pressure, a constant, and 0 up to rounding
    const std::int64_t n = std::ssize(rows) / 4;
    const TensorRef values{rows.data(), 2, {n, 4}, {4, 1}};
    const HostArray array{"state", values, ""};
    return MemorySet(std::span(&array, 1));
  };
  auto training = set_of({280, 9e4, 273.15, 0, 300, 1e5, 273.15, 1e-12, 320, 1.1e5, 273.15, -1e-12});
  ArtifactInfo info;
  info.fields = field_ranges(training, 256);
  CHECK(info.fields[0].each_lowest == std::vector<double>{280, 9e4, 273.15, -1e-12});
  CHECK(info.fields[0].each_highest == std::vector<double>{320, 1.1e5, 273.15, 1e-12});
  const auto said = [&](std::vector<double> rows) {
    Log log;
    auto data = set_of(std::move(rows));
    warn_of_ranges(info, data, log);
    std::string out;
    for (const auto& warning : log.warnings()) out += warning.text;
    return out;
  };
  CHECK(said({280, 9e4, 273.15, 5e-12, 329, 1.1e5, 273.15, 0}).empty());  // less than a quarter of 40 K
  CHECK(said({5300, 9e4, 273.15, 0, 5310, 1.1e5, 273.15, 0}) ==
        "value 0 of field 'state' (counted from 0) spans [5300, 5310], but training saw [280, 320]: the model "
        "extrapolates");
  CHECK(said({200, 9e4, 280, 0}) ==
        "value 0 of field 'state' (counted from 0) spans [200, 200], but training saw [280, 320]: the model "
        "extrapolates; so does 1 of its other values");
  CHECK(said({300, 2e5, 273.15, 0}) ==
        "field 'state' spans [0, 2e+05], but training saw [-1e-12, 1.1e+05]: the model extrapolates");
  for (auto* each : {&info.fields[0].each_lowest, &info.fields[0].each_highest}) each->clear();  // of an older file
  CHECK(said({5300, 9e4, 273.15, 0}).empty());
}

TEST_CASE("images divided by 255 are warned of where a model was trained on bytes") {
  const auto said = [](std::vector<double> training, std::vector<double> values) {
    const auto set_of = [](std::vector<double>& pixels) {
      const HostArray array{"image", {pixels.data(), 3, {2, 4, 4}, {16, 4, 1}}, ""};
      return MemorySet(std::span(&array, 1));
    };
    ArtifactInfo info;
    auto seen = set_of(training), here = set_of(values);
    info.fields = field_ranges(seen, 256);
    Log log;
    warn_of_ranges(info, here, log);
    std::string out;
    for (const auto& warning : log.warnings()) out += warning.text;
    return out;
  };
  std::vector<double> bytes(32), fractions(32), temperatures(32, 300.0);
  for (std::size_t k = 0; k < 32; ++k) bytes[k] = static_cast<double>(8 * k), fractions[k] = bytes[k] / 255.0;
  CHECK(
      said(bytes, fractions) ==
      "field 'image' spans [0, 0.9725], but training saw [0, 248]: if these are bytes divided by 255, give them to the "
      "model as bytes");
  CHECK(said(bytes, bytes).empty());
  CHECK(said(fractions, fractions).empty());
  CHECK(said(temperatures, temperatures).empty());
}
