// Rows of numbers by sample, divided among ranks.
#include "plugins/pretrain/contrastive/sample_rows.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

TEST_CASE("rows come back to whichever rank asks, and nobody else's change") {
  const Comm comm;
  SampleRows rows(3, comm);
  Traffic traffic;
  const std::int64_t ranks = comm.size(), rank = comm.rank();
  std::vector<std::int64_t> mine, next;
  for (std::int64_t k = 0; k < 5; ++k) mine.push_back(((4 - k) * ranks + rank) * 2 % (10 * ranks + 1));
  std::vector<double> values;
  for (const double x : rows.fetch(mine, traffic)) CHECK(x == 0.0);
  for (const auto id : mine)
    for (int c = 0; c < 3; ++c) values.push_back(static_cast<double>(id * 10 + c));
  rows.store(values, traffic);
  for (std::int64_t k = 0; k < 5; ++k) next.push_back((k * ranks + (rank + 1) % ranks) * 2 % (10 * ranks + 1));
  const auto found = rows.fetch(next, traffic);
  REQUIRE(found.size() == 15);
  for (std::size_t k = 0; k < 5; ++k)
    for (std::size_t c = 0; c < 3; ++c)
      CHECK(found[3 * k + c] == static_cast<double>(next[k]) * 10 + static_cast<double>(c));
  const auto whole = rows.whole();
  SampleRows copy(3, comm);
  copy.set_whole(whole);
  CHECK(copy.whole() == whole);
  CHECK(copy.fetch(next, traffic) == found);
}
