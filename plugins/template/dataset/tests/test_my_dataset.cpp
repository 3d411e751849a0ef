// A table holds the values of samples, by the names of its columns; what it lacks is said with its place.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include "my_dataset.hpp"

using namespace cambium;
using cambium::my_dataset::MyDataset;

namespace {

struct World {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

struct Table {
  std::string path = (std::filesystem::temp_directory_path() / ("table_" + std::to_string(::getpid()))).string();
  explicit Table(const std::string& text) { std::ofstream(path) << text; }
  ~Table() { std::remove(path.c_str()); }
};

std::string refused(const std::string& text) {
  World world;
  const Table table(text);
  try {
    MyDataset({.file = table.path, .input = {"x"}, .target = "z"}, world.context).open(world.context);
  } catch (const InputError& error) {
    return std::string(error.what()).substr(table.path.size());
  }
  return "accepted";
}

}  // namespace

TEST_CASE("samples hold the columns that the deck names") {
  World world;
  const Table table("# a comment\nx y z\n1 2 3\n\n4 5 6\n# another\n7 8 9\n");
  MyDataset set({.file = table.path, .input = {"z", "x"}, .target = "y"}, world.context);
  set.open(world.context);
  REQUIRE(set.size() == 3);
  CHECK(set.fields()[0].shape == std::vector<std::int64_t>{2});
  const std::int64_t ids[] = {0, 2};
  const auto samples = set.read(ids);
  REQUIRE(samples.size() == 2);
  CHECK(samples[1]->id == 2);
  const auto* input = static_cast<const double*>(samples[1]->fields.at("input").data);
  CHECK(input[0] == 9.0);
  CHECK(input[1] == 7.0);
  CHECK(*static_cast<const double*>(samples[0]->fields.at("target").data) == 2.0);
}

TEST_CASE("errors of a table are reported with their line") {
  CHECK(refused("x y\n1 2\n") == ":1: there is no column 'z'; known: x, y");
  CHECK(refused("x z\n1 2\n3\n") == ":3: expected 2 values, found 1 words");
}
