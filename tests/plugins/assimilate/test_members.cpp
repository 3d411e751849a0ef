// Members shared among ranks: to places and back without a change, moments of all.
#include "plugins/assimilate/twin/members.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/assimilate/line_space.hpp"

using namespace cambium;
using namespace cambium::assimilate;
using namespace cambium::assimilate::test;

TEST_CASE("members go to places and back, on any number of ranks") {
  Comm comm(MPI_COMM_WORLD);
  const auto space = staggered(6, 5, true);
  for (const std::size_t count : {1, 3, 7}) {
    Members members(comm, space, count);
    const auto value = [&](std::size_t m, std::size_t e) { return std::sin(1.0 + 7.0 * m + 0.37 * e); };
    for (auto m = members.own().first; m < members.own().last; ++m)
      for (std::size_t e = 0; e < space.elements(); ++e) members.member(m)[e] = value(m, e);
    auto slice = members.to_places();
    for (std::size_t m = 0; m < count; ++m)
      for (std::size_t f = 0; f < 3; ++f)
        for (auto p = slice.first; p < slice.last; ++p) REQUIRE(slice.at(m, f, p) == value(m, f * space.places() + p));
    const auto moments = members.moments(slice);
    for (std::size_t e = 0; e < space.elements(); ++e) {
      double mean = 0.0, squares = 0.0;
      for (std::size_t m = 0; m < count; ++m) mean += value(m, e) / static_cast<double>(count);
      for (std::size_t m = 0; m < count; ++m) squares += std::pow(value(m, e) - mean, 2);
      REQUIRE(moments.mean[e] == Approx(mean).margin(1e-15));
      REQUIRE(moments.variance[e] == Approx(count > 1 ? squares / (count - 1.0) : 0.0).margin(1e-15));
    }
    for (double& x : slice.values) x = -x;
    members.from_places(slice);
    for (auto m = members.own().first; m < members.own().last; ++m)
      for (std::size_t e = 0; e < space.elements(); ++e) REQUIRE(members.member(m)[e] == -value(m, e));
    NetworkKeys keys;
    keys.error = 1.0;
    const auto network = make_network(keys, space, std::vector<double>{1.0, 1.0, 1.0});
    const auto seen = members.seen_through(network);
    std::vector<double> state(space.elements()), expected(network.size());
    for (std::size_t m = 0; m < count; ++m) {
      for (std::size_t e = 0; e < state.size(); ++e) state[e] = -value(m, e);
      network.apply(state, expected);
      for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(seen[m * network.size() + i] == expected[i]);
    }
  }
}
