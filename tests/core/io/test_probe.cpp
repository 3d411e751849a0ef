// Files of others are opened by another process first; a stand-in for it ends as the HDF5 library would on a damaged
// file.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/probe.hpp"
#include "core/io/hdf5/seal.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
namespace fs = std::filesystem;

namespace {

/// A program in the place of the one that opens files.
struct StandIn {
  StandIn(const Scratch& scratch, const std::string& does) {
    const std::string path = scratch.file("stand_in");
    std::ofstream(path) << "#!/bin/sh\nfor file in \"$@\"; do echo looks; " << does << "; done\n";
    fs::permissions(path, fs::perms::owner_all);
    setenv("CAMBIUM_HDF5_PROBE", path.c_str(), 1);
  }
  ~StandIn() { unsetenv("CAMBIUM_HDF5_PROBE"); }
};

/// As if another program had written it.
void copied(const std::string& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  std::ofstream(to, std::ios::binary) << in.rdbuf();
}

}  // namespace

TEST_CASE("a file on which the process that opens it first ends is damaged") {
  Scratch scratch("probe");
  const std::string own = scratch.file("own.h5"), theirs = scratch.file("theirs.h5"), more = scratch.file("more.h5");
  auto file = io::File::create(own);
  file.write("x", std::vector<double>{1, 2});
  file.close();
  copied(own, theirs);
  copied(own, more);
  {
    const StandIn dies(scratch, "kill -SEGV $$");
    CHECK(message([&] { io::File::open(theirs); }) ==
          "'" + theirs +
              "' is damaged: the HDF5 library ended on it (Segmentation fault), in a process that was to open "
              "it first; copy it again from its source");
    CHECK(message([&] { io::File::append(theirs); }) != "no error");
    CHECK(io::File::open(own).read<std::vector<double>>("x").size() == 2);  // written by this process
  }
  {
    const StandIn dies(scratch, "kill -XCPU $$");
    CHECK(message([&] { io::File::open(theirs); }) ==
          "'" + theirs +
              "' is damaged: the HDF5 library does not come to an end in it, in a process that was to open it "
              "first; copy it again from its source");
  }
  {  // one of several is named
    const StandIn dies(scratch, "case $file in *more.h5) kill -ABRT $$;; esac");
    CHECK(message([&] { io::probe_hdf5({own, theirs, more}); }).starts_with("'" + more + "' is damaged"));
  }
  {  // a program that cannot be started says nothing
    const StandIn fails(scratch, "exit 3");
    CHECK(io::File::open(theirs).read<std::vector<double>>("x").size() == 2);
  }
  {  // known by now
    const StandIn dies(scratch, "kill -SEGV $$");
    CHECK(io::File::open(theirs).read<std::vector<double>>("x").size() == 2);
    copied(own, theirs + ".new");
    fs::rename(theirs + ".new", theirs);
    CHECK(message([&] { io::File::open(theirs); }) != "no error");
  }
}

TEST_CASE("the real one takes sound files for sound, and a broken seal is seen before any") {
  Scratch scratch("probe");
  const std::string own = scratch.file("own.h5"), theirs = scratch.file("theirs.h5");
  io::write_sealed_h5(own, [](io::File& file) {
    file.write("x", std::vector<double>{1, 2});
    file.write("text", "words");
    file.create_series("grows", DType::f32, std::vector<std::int64_t>{3});
    file.set_attribute("list", std::vector<std::string>{"a", "b"});
  });
  copied(own, theirs);
  fs::resize_file(theirs, fs::file_size(theirs) - 32);
  CHECK(io::File::open(theirs).read<std::vector<double>>("x").size() == 2);
  std::fstream(own, std::ios::in | std::ios::out | std::ios::binary).seekp(2000).put('!');
  const StandIn dies(scratch, "kill -SEGV $$");
  CHECK(message([&] { io::File::open(own); }) ==
        "'" + own +
            "' is damaged: what it holds is not what was written; put back a copy of it, or have the stage that "
            "wrote it write it again");
}
