#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel/comm.hpp"
#include "tests/catch.hpp"

using namespace cambium;

TEST_CASE("a value that is no number on one rank is none in the extremes of all, wherever it is") {
  const Comm comm;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double mine = comm.rank() + 1.0;
  CHECK(comm.max(mine) == comm.size());
  CHECK(comm.min(mine) == 1.0);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const double value = comm.rank() == rank ? nan : mine;
    CHECK(std::isnan(comm.max(value)));
    CHECK(std::isnan(comm.min(value)));
    std::vector<double> largest{value, mine, -mine}, smallest = largest;
    comm.max(std::span<double>(largest));
    comm.min(std::span<double>(smallest));
    CHECK(std::isnan(largest[0]));
    CHECK(std::isnan(smallest[0]));
    CHECK(largest[1] == comm.size());
    CHECK(largest[2] == -1.0);
    CHECK(smallest[1] == 1.0);
    CHECK(smallest[2] == -comm.size());
  }
}
