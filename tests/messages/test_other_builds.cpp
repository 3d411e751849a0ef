// What a program says that was built on other libraries than this one: the files that decide are compiled again with
// the other setting (serial_hdf5.cpp, static_kokkos.cpp), and this program's own functions come before those of the
// shared library.
#include <fmt/format.h>

#include "core/io/hdf5/h5.hpp"
#include "core/plugin/loader.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

TEST_CASE("an HDF5 without MPI writes no file together") {
  const Scratch scratch;
  const std::string path = scratch.file("state.h5");
  io::File::create(path).close();
  const Comm comm;
  CHECK(message([&] { io::File::open_collective(path, comm); }) ==
        fmt::format("cannot write '{}' collectively: this build has HDF5 {} without MPI; set `checkpoint.transfer: "
                    "gather` or build with a parallel HDF5",
                    path, io::hdf5_version()));
}

TEST_CASE("a program that holds a static Kokkos loads no plugin") {
  Comm comm;
  Registry registry;
  CHECK(message([&] { load_plugin(PLUGINS "/good_plugin.cambium.so", registry, comm); }) ==
        "plugin 'good_plugin' cannot be loaded: this program holds a static Kokkos, of which the plugin would bring a "
        "second copy; build Kokkos with -DBUILD_SHARED_LIBS=ON, and Cambium with it");
}
