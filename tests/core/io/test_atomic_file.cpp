#include <fstream>
#include <iterator>

#include "core/io/hdf5/atomic_file.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
namespace fs = std::filesystem;

namespace {
std::string content(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

const std::string fix =
    "File too large; raise the limit that this shell or job sets for the size of a file (ulimit -f), then resume";
}  // namespace

TEST_CASE("a text file appears complete or not at all") {
  Scratch scratch("atomic");
  const std::string name = scratch.file("thermo.csv");
  io::write_file_atomically(name, "old");
  {
    FullDisk disk(1000);
    CHECK(message([&] { io::write_file_atomically(name, std::string(5000, 'x')); }) ==
          "cannot write '" + name + "': " + fix);
  }
  CHECK(content(name) == "old");
  CHECK(files_in(scratch.folder) == 1);
  io::write_file_atomically(name, std::string(5000, 'y'));
  CHECK(content(name) == std::string(5000, 'y'));
  CHECK(files_in(scratch.folder) == 1);
}

TEST_CASE("an HDF5 file that does not fit leaves the old one and the program in order") {
  Scratch scratch("atomic");
  const std::string name = scratch.file("restart.h5");
  io::write_h5_atomically(name, [](io::File& file) { file.write("x", 1.0); });
  const std::string before = content(name);
  const auto big_data = [](io::File& file) { file.write("x", std::vector<double>(100000, 2.0)); };
  const auto many_groups = [](io::File& file) {
    for (int k = 0; k < 5000; ++k) file.create_group("g" + std::to_string(k)).set_attribute("k", k);
  };
  const auto series = [](io::File& file) {
    auto set = file.create_series("x", DType::f64, std::vector<std::int64_t>{3});
    for (int k = 0; k < 20000; ++k) set.append(io::tensor_of(std::vector<double>{1, 2, 3}));
  };
  for (const std::function<void(io::File&)>& fill :
       {std::function<void(io::File&)>(big_data), {many_groups}, {series}}) {
    FullDisk disk(100000);
    CHECK(message([&] { io::write_h5_atomically(name, fill); }) == "cannot write '" + name + "': " + fix);
    CHECK(content(name) == before);
    CHECK(files_in(scratch.folder) == 1);
  }
  io::write_h5_atomically(name, big_data);
  CHECK(io::File::open(name).read<std::vector<double>>("x").size() == 100000);
}

TEST_CASE("a device without room is reported as such") {
  if (!fs::exists("/dev/full")) return;
  Scratch scratch("atomic");
  const std::string name = scratch.file("full.csv");
  fs::create_symlink("/dev/full", name + ".part");
  CHECK(message([&] { io::write_file_atomically(name, "text"); }) ==
        "cannot write '" + name +
            "': No space left on device; free some space or choose another run directory (run.directory), then resume");
  CHECK_FALSE(fs::exists(name));
}

TEST_CASE("an exception while a file is filled leaves nothing") {
  Scratch scratch("atomic");
  const std::string name = scratch.file("a.h5");
  CHECK_THROWS_AS(io::write_h5_atomically(name, [](io::File& file) { file.read<double>("nothing"); }), InputError);
  CHECK(files_in(scratch.folder) == 0);
}

TEST_CASE("a device is written into, and no file takes its place") {
  Scratch scratch;
  const std::string name = scratch.file("nowhere");
  std::filesystem::create_symlink("/dev/null", name);
  io::write_file_atomically(name, "text");
  CHECK(std::filesystem::is_character_file(name));
  const std::string full = scratch.file("full");
  std::filesystem::create_symlink("/dev/full", full);
  CHECK_THROWS_WITH(io::write_file_atomically(full, "text"), Catch::Contains("No space left on device"));
  CHECK(std::filesystem::is_character_file(full));
  CHECK_FALSE(std::filesystem::exists(full + ".part"));
}
