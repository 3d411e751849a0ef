// What a model file says of the data that its network has met.
#include "core/io/hdf5/atomic_file.hpp"
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
