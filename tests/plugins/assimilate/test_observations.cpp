// The observation operator on staggered fields: exact for linear fields, zero on walls, around the period.
#include "core/base/key_error.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/assimilate/line_space.hpp"

using namespace cambium;
using namespace cambium::assimilate;
using namespace cambium::assimilate::test;

namespace {

template <class F>
std::vector<double> filled(const StateSpace& space, const F& value) {
  std::vector<double> out;
  for (const auto& field : space.fields)
    for (const double x : field.x)
      for (const double z : field.z) out.push_back(value(field.name, x, z));
  return out;
}

const std::vector<double> ones{1.0, 1.0, 1.0};

std::string message(const NetworkKeys& keys, const StateSpace& space, const std::vector<double>& scale = ones) {
  try {
    make_network(keys, space, scale);
  } catch (const KeyError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("points see linear fields exactly, whatever places a field has") {
  const auto space = staggered(8, 6, false);
  const auto state = filled(space, [](const std::string& name, double x, double z) {
    return name == "u" ? x * (2.0 - x) * 0.0 + 0.0 * z : name == "w" ? 0.0 : 1.0 + 2.0 * x - 3.0 * z;
  });
  NetworkKeys keys;
  keys.fields = {"b"};
  keys.positions = {{0.3, 0.2}, {1.0, 0.5}, {1.9, 0.9}};
  keys.error = 1.0;
  const auto network = make_network(keys, space, ones);
  std::vector<double> seen(network.size());
  network.apply(state, seen);
  for (std::size_t i = 0; i < seen.size(); ++i)
    CHECK(seen[i] == Approx(1.0 + 2.0 * keys.positions[i][0] - 3.0 * keys.positions[i][1]));
}

TEST_CASE("centres of the last cells lie between the last face and the wall, where velocities are zero") {
  const auto space = staggered(4, 4, false);
  const auto state = filled(space, [](const std::string& name, double x, double z) {
    return name == "u" ? (x == 0.0 ? 0.0 : 1.0) : name == "w" ? (z == 0.0 ? 0.0 : 1.0) : 5.0;
  });
  const auto network = centres(space);
  std::vector<double> seen(network.size());
  network.apply(state, seen);
  const auto at = [&](std::size_t f, std::size_t i, std::size_t k) { return seen[(f * 4 + i) * 4 + k]; };
  CHECK(at(0, 0, 1) == Approx(0.5));
  CHECK(at(0, 1, 1) == Approx(1.0));
  CHECK(at(0, 3, 1) == Approx(0.5));
  CHECK(at(1, 1, 0) == Approx(0.5));
  CHECK(at(1, 1, 3) == Approx(0.5));
  CHECK(at(2, 2, 2) == Approx(5.0));
}

TEST_CASE("a periodic axis is closed, and distances go the short way") {
  const auto space = staggered(8, 4, true);
  const auto state = filled(space, [](const std::string&, double x, double) { return std::cos(3.14159265358979 * x); });
  NetworkKeys keys;
  keys.fields = {"b"};
  keys.positions = {{2.0, 0.5}};
  keys.error = 1.0;
  std::vector<double> seen(1);
  make_network(keys, space, ones).apply(state, seen);
  CHECK(seen[0] == Approx(std::cos(3.14159265358979 * 0.125)));  // both neighbours have this value
  CHECK(distance(space, 0.1, 0.5, 1.9, 0.5) == Approx(0.2));
  CHECK(distance(space, 0.1, 0.1, 1.9, 0.5) == Approx(std::hypot(0.2, 0.4)));
}

TEST_CASE("blocks are means by area, and a stride sees every k-th cell of the chosen range") {
  auto space = staggered(8, 4, true);
  const auto state = filled(space, [](const std::string&, double x, double z) { return x + 10.0 * z; });
  NetworkKeys keys;
  keys.fields = {"b"};
  keys.stride = {4, 2};
  keys.operation = Operator::blocks;
  keys.relative_error = 0.1;
  const auto network = make_network(keys, space, std::vector<double>{1.0, 1.0, 5.0});
  REQUIRE(network.size() == 4);
  std::vector<double> seen(4);
  network.apply(state, seen);
  CHECK(seen[0] == Approx(0.5 + 2.5));
  CHECK(seen[3] == Approx(1.5 + 7.5));
  CHECK(network.list[0].deviation == Approx(0.5));
  keys.operation = Operator::points;
  keys.between_x = {{0.0, 1.0}};
  CHECK(make_network(keys, space, ones).size() == 2);
}

TEST_CASE("what cannot be observed is refused") {
  const auto space = staggered(8, 4, true);
  NetworkKeys keys;
  keys.error = 1.0;
  keys.fields = {"v"};
  CHECK(message(keys, space) == "the model has no field 'v'; name among: u, w, b");
  keys.fields = {"b"};
  keys.stride = {9, 1};
  CHECK(message(keys, space) == "'stride' is 9 along x, where the model has 8 cells: give at most as many");
  keys.stride = {8, 4};
  CHECK(make_network(keys, space, ones).size() == 1);
  keys.stride = {1, 1};
  keys.positions = {{0.5, 1.5}};
  CHECK(message(keys, space) ==
        "the position [0.5, 1.5] is outside of the model, x = 0 to 2 and z = 0 to 1: give "
        "positions inside");
  keys.positions.clear();
  keys.between_x = {{0.26, 0.27}};
  CHECK(message(keys, space) == "no position of the model is observed: widen 'between_x' and 'between_z'");
  keys.between_x.reset();
  keys.error.reset();
  keys.relative_error = 0.05;
  CHECK(message(keys, space, {1.0, 1.0, 0.0}) ==
        "the error of the observations of 'b' is zero: filters divide by it; give a positive 'error' or "
        "'relative_error'");
}
