#include <filesystem>
#include <fstream>

#include "core/io/hdf5/seal.hpp"
#include "core/io/reading.hpp"
#include "core/io/run/checkpoint.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using io::Seal;

namespace {

/// A sealed file of some blocks.
std::string sealed(const Scratch& scratch, std::size_t numbers) {
  const std::string path = scratch.file("restart.2.h5");
  io::write_sealed_h5(path, [&](io::File& file) { file.write("/a", std::vector<double>(numbers, 1.5)); });
  return path;
}

void flip(const std::string& path, std::uintmax_t at, int bit) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ (1 << bit)));
}

}  // namespace

TEST_CASE("a seal notices every bit, wherever it is") {
  const Scratch scratch("seal");
  const Comm comm;
  const std::string path = sealed(scratch, 3'000'000);  // three blocks
  REQUIRE(io::seal_of(path, comm) == Seal::sound);
  const auto bytes = std::filesystem::file_size(path) - 32;
  for (std::uintmax_t at :
       {std::uintmax_t{0}, std::uintmax_t{7}, bytes / 3, bytes / 2 + 5, bytes - 1, bytes + 17, bytes + 31}) {
    const int bit = static_cast<int>(at % 8);
    flip(path, at, bit);
    CHECK(io::seal_of(path, comm) == Seal::broken);
    flip(path, at, bit);
  }
  CHECK(io::seal_of(path, comm) == Seal::sound);
}

TEST_CASE("what HDF5 reads and changes has no part in the seal") {
  const Scratch scratch("seal");
  const Comm comm;
  const std::string path = sealed(scratch, 10);
  CHECK(io::File::open(path).read<std::vector<double>>("/a") == std::vector<double>(10, 1.5));
  CHECK(io::seal_of(path, comm) == Seal::sound);
  io::File::append(path).write("/b", std::vector<double>{1.0});
  CHECK(io::seal_of(path, comm) == Seal::absent);
  CHECK(io::seal_of(scratch.file("nothing.h5"), comm) == Seal::absent);
  CHECK_FALSE(io::require_sound(path, comm));
}

TEST_CASE("a damaged checkpoint is named, with the others of its folder") {
  const Scratch scratch("seal");
  const Comm comm;
  const std::string path = sealed(scratch, 10);
  std::ofstream(scratch.file("restart.1.h5")) << "an older one";
  flip(path, 600, 3);
  CHECK(message([&] { io::require_sound(path, comm); }) ==
        "'" + path +
            "' is damaged: what it holds is not what was written; remove it, and the run resumes from an earlier "
            "checkpoint, or afresh; the folder also holds restart.1.h5");
}

TEST_CASE("what a file's contents make the library throw is an error of the file") {
  CHECK(message([] {
          io::reading("a.h5", [] { std::vector<int>(2).at(5); });
        }).starts_with("'a.h5' is damaged or was changed: what it holds does not fit together ("));
  CHECK(message([] { io::reading("a.h5", [] { throw InputError("ours"); }); }) == "ours");
  CHECK_THROWS_AS(io::reading("a.h5", [] { throw InternalError("ours"); }), InternalError);
}
