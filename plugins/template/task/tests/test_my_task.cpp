// Means and errors of series whose answer is known on paper, and a stage that reads a table.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include "core/parallel/random.hpp"
#include "my_task.hpp"

using namespace cambium;
using namespace cambium::my_task;

TEST_CASE("blocks of a short series") {
  const std::vector<double> values{99, 1, 2, 3, 4, 5, 6, 7, 8};  // the first is left over
  const auto m = block_mean(values, 4);
  CHECK(m.length == 2);
  CHECK(m.mean == Approx(4.5));
  CHECK(m.error == Approx(std::sqrt(20.0 / 12.0)));
  CHECK_THROWS_WITH(block_mean(values, 10), "9 values are too few for 10 blocks; give fewer blocks or a longer table");
}

TEST_CASE("independent values have the error of independent values") {
  std::vector<double> values;
  for (std::uint64_t k = 0; k < 100000; ++k) values.push_back(3.0 + Random4(1, Stream::external, k, 0).normal(0));
  const auto m = block_mean(values, 100);
  CHECK(m.error == Approx(1.0 / std::sqrt(100000.0)).epsilon(0.3));
  CHECK(std::abs(m.mean - 3.0) < 5.0 * m.error);
}

TEST_CASE("a stage reads a column and writes what it found") {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  const auto folder = std::filesystem::temp_directory_path() / ("my_task_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  context.run_directory = folder.string();
  const std::string table = (folder / "thermo.csv").string();
  std::ofstream(table) << "step,temperature [K]\n0,1\n1,3\n2,5\n3,7\n";
  MyTask task({.table = table, .column = "temperature", .blocks = 2}, context);
  CHECK(task.run(context) == Task::Outcome::done);
  CHECK(result_lines(task.results()) == std::vector<std::string>{"mean of temperature: 4 +- 2 K (2 blocks of 2 rows)"});
  CHECK(task.work().items == 4);
  std::ifstream written(folder / "my_task.csv");
  std::string head, row;
  std::getline(written, head), std::getline(written, row);
  CHECK(head == "mean [K],error [K],block_length [rows]");
  CHECK(row == "4,2,2");
  MyTask other({.table = table, .column = "temperatur", .blocks = 2}, context);
  CHECK_THROWS_WITH(other.run(context), table + ":1: there is no column 'temperatur'; did you mean 'temperature'?");
  std::filesystem::remove_all(folder);
}
