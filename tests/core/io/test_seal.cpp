#include <filesystem>
#include <fstream>

#include "core/base/text.hpp"
#include "core/io/checkpoint.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/model_seal.hpp"
#include "core/io/reading.hpp"
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
       {std::uintmax_t{0}, std::uintmax_t{7}, bytes / 3, bytes / 2 + 5, bytes - 1, bytes, bytes + 17, bytes + 31}) {
    const int bit = static_cast<int>(at % 8);
    flip(path, at, bit);
    CHECK(io::seal_of(path, comm) == Seal::broken);
    flip(path, at, bit);
  }
  CHECK(io::seal_of(path, comm) == Seal::sound);
}

TEST_CASE("a text carries its seal as a comment, and every letter counts") {
  const std::string text = "model:\n  a: 1.5\n", sealed = io::sealed_text(text);
  CHECK(sealed.starts_with(text + "# Cambium seal 1: 000000000016 bytes, sum "));
  CHECK(io::seal_of_text(sealed) == Seal::sound);
  CHECK(io::seal_of_text(text) == Seal::absent);
  CHECK(io::seal_of_text("") == Seal::absent);
  CHECK(io::seal_of_text(sealed + "b: 2\n") == Seal::absent);  // as of a text that another program writes on
  CHECK(io::seal_of_text(sealed.substr(2)) == Seal::broken);
  CHECK(io::sealed_text("a") == io::sealed_text("a\n"));
  for (std::size_t k = 0; k < sealed.size(); ++k)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = sealed;
      damaged[k] = static_cast<char>(damaged[k] ^ (1 << bit));
      CHECK(io::seal_of_text(damaged) == Seal::broken);
    }
}

TEST_CASE("a damaged model is named, and one without a checksum is told apart") {
  const Scratch scratch("seal");
  const std::string path = sealed(scratch, 10), text = scratch.file("m.yaml");
  std::ofstream(text) << io::sealed_text("a: 1\n");
  CHECK(io::require_sound_model(path));
  CHECK(io::require_sound_model(text));
  CHECK_FALSE(io::require_sound_model(scratch.file("none.h5")));
  io::File::append(path).write("/b", std::vector<double>{1.0});
  CHECK_FALSE(io::require_sound_model(path));
  flip(text, 3, 0);
  const std::string words =
      "' is damaged: what it holds is not what was written; put back a copy of it, or have the stage that wrote it "
      "write "
      "it again; if you changed it yourself, remove its last line, the checksum";
  CHECK(message([&] { io::require_sound_model(text); }) == "'" + text + words);
  const std::string folder = scratch.file("folder.yaml");
  std::filesystem::create_directory(folder);
  CHECK(message([&] { io::require_sound_model(folder); }) ==
        "'" + folder + "' is a folder, not a model; name a model file in it");
  CHECK(text_of_file(folder).empty());  // and does not throw, as an iterator over it does
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
