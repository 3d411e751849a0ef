// Changes of fields: what moves where, which signs turn, what is refused.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "plugins/pretrain/archive/augment.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::pretrain;

namespace {

const FieldShape shape{2, {6, 4}, {1, 0}};
const std::vector<double> deviation{1.0, 2.0};

std::vector<float> numbered() {
  std::vector<float> out(shape.numbers());
  std::iota(out.begin(), out.end(), 1.0f);
  return out;
}

float at(const std::vector<float>& field, std::int64_t c, std::int64_t i, std::int64_t j) {
  return field[(c * 6 + i) * 4 + j];
}

AugmentKeys with(std::vector<std::int64_t> shift, std::vector<Reflection> reflect = {}, double noise = 0.0,
                 std::vector<std::int64_t> crop = {}) {
  return {std::move(shift), std::move(reflect), noise, std::move(crop)};
}

}  // namespace

TEST_CASE("a shift moves all channels round a periodic axis by one number of cells") {
  const auto field = numbered();
  std::vector<bool> seen(6, false);
  for (std::int64_t sample = 0; sample < 60; ++sample) {
    const auto moved = augmented(field, shape, with({0}), deviation, {1, sample, 0, 0});
    std::int64_t by = 0;
    while (at(field, 0, by, 0) != at(moved, 0, 0, 0)) ++by;
    seen[by] = true;
    for (std::int64_t c = 0; c < 2; ++c)
      for (std::int64_t i = 0; i < 6; ++i)
        for (std::int64_t j = 0; j < 4; ++j) REQUIRE(at(moved, c, i, j) == at(field, c, (i + by) % 6, j));
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == 6);
}

TEST_CASE("a reflection turns an axis round and the signs of odd channels, half of the time") {
  const auto field = numbered();
  int turned = 0;
  for (std::int64_t sample = 0; sample < 200; ++sample) {
    const auto out = augmented(field, shape, with({}, {{1, {0}}}), deviation, {1, sample, 3, 1});
    if (out == field) continue;
    ++turned;
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t j = 0; j < 4; ++j) {
        REQUIRE(at(out, 0, i, j) == -at(field, 0, i, 3 - j));
        REQUIRE(at(out, 1, i, j) == at(field, 1, i, 3 - j));
      }
  }
  CHECK(turned > 70);
  CHECK(turned < 130);
}

TEST_CASE("a crop is a piece of the field, and noise has the deviation of its channel") {
  const auto field = numbered();
  const auto keys = with({}, {}, 0.0, {6, 2});
  CHECK(augmented_shape(keys, shape).cells == std::vector<std::int64_t>{6, 2});
  for (std::int64_t sample = 0; sample < 20; ++sample) {
    const auto piece = augmented(field, shape, keys, deviation, {1, sample, 0, 0});
    REQUIRE(piece.size() == 24);
    const float first = piece[0] - 1.0f;
    CHECK((first == 0.0f || first == 1.0f || first == 2.0f));
    CHECK(piece[1] == piece[0] + 1.0f);
    CHECK(piece[2] == piece[0] + 4.0f);
  }
  double squares[2] = {0.0, 0.0};
  for (std::int64_t sample = 0; sample < 200; ++sample) {
    const auto noisy = augmented(field, shape, with({}, {}, 0.5), deviation, {1, sample, 0, 0});
    for (std::size_t k = 0; k < noisy.size(); ++k)
      squares[k / 24] += std::pow(static_cast<double>(noisy[k]) - static_cast<double>(field[k]), 2) / (200 * 24);
  }
  CHECK(std::sqrt(squares[0]) == Approx(0.5).epsilon(0.05));
  CHECK(std::sqrt(squares[1]) == Approx(1.0).epsilon(0.05));
}

TEST_CASE("changes are functions of seed, sample, view and step alone") {
  const auto field = numbered();
  const auto keys = with({0}, {{0, {1}}}, 0.1);
  const auto of = [&](AugmentAddress address) { return augmented(field, shape, keys, deviation, address); };
  CHECK(of({1, 2, 3, 0}) == of({1, 2, 3, 0}));
  CHECK(of({1, 2, 3, 0}) != of({1, 2, 3, 1}));
  CHECK(of({1, 2, 3, 0}) != of({1, 2, 4, 0}));
  CHECK(of({1, 2, 3, 0}) != of({2, 2, 3, 0}));
}

TEST_CASE("what would break what the data say of themselves is refused") {
  const auto refused = [&](const AugmentKeys& keys, const char* message) {
    REQUIRE_THROWS_WITH(require_fitting(keys, shape), message);
  };
  refused(with({1}),
          "augment.shift names axis 1, which is not periodic: a shifted field would not be one of this system; remove "
          "it, or crop along it");
  refused(with({2}), "augment.shift names axis 2, but fields have the axes 0 to 1");
  refused(with({}, {{2, {}}}), "augment.reflect names axis 2, but fields have the axes 0 to 1");
  refused(with({}, {{0, {2}}}), "augment.reflect: odd names channel 2, but fields have the channels 0 to 1");
  refused(with({}, {}, 0.0, {6}), "augment.crop has 1 extents, but fields have 2 axes");
  refused(with({}, {}, 0.0, {6, 5}), "augment.crop is 6 x 5, but fields have 6 x 4 cells; take at most those");
  refused(with({}, {}, 0.0, {4, 4}),
          "augment.crop cuts axis 0, which is periodic and wrapped by the network; keep its 6 cells, and shift it");
  require_fitting(with({0}, {{0, {0}}, {1, {1}}}, 0.1, {6, 3}), shape);
}

namespace {

const FieldShape picture{1, {21, 21}, {0, 0}};

/// A spot of a deviation of two cells.
std::vector<float> spot(double row, double column) {
  std::vector<float> out;
  for (int i = 0; i < 21; ++i)
    for (int j = 0; j < 21; ++j)
      out.push_back(static_cast<float>(std::exp(-((i - row) * (i - row) + (j - column) * (j - column)) / 8.0)));
  return out;
}

/// Mean place of what is there.
std::pair<double, double> place(const std::vector<float>& field) {
  double sum = 0.0, row = 0.0, column = 0.0;
  for (int k = 0; k < 441; ++k) {
    const double x = field[k];
    sum += x;
    row += x * (k / 21);
    column += x * (k % 21);
  }
  return {row / sum, column / sum};
}

AugmentKeys warp(double turn, double stretch, double slant, double bend) {
  AugmentKeys keys;
  keys.warp = WarpKeys{turn, stretch, slant, bend};
  return keys;
}

}  // namespace

TEST_CASE("a warp turns round the middle, stretches, slants and bends as far as it may") {
  const std::vector<double> unit{1.0};
  const auto moved = [&](const AugmentKeys& keys, std::int64_t sample) {
    return place(augmented(spot(10, 15), picture, keys, unit, {1, sample, 0, 0}));
  };
  double least = 90.0, most = -90.0, nearest = 10.0, farthest = 0.0, apart = 0.0, bent = 0.0;
  for (std::int64_t sample = 0; sample < 200; ++sample) {
    const auto [row, column] = moved(warp(30, 0, 0, 0), sample);
    CHECK(std::hypot(row - 10, column - 10) == Approx(5.0).margin(0.1));
    const double angle = std::atan2(row - 10, column - 10) * 57.29578;
    least = std::min(least, angle);
    most = std::max(most, angle);
    const auto [still, along] = moved(warp(0, 0.2, 0, 0), sample);
    CHECK(still == Approx(10.0).margin(0.05));
    nearest = std::min(nearest, along - 10);
    farthest = std::max(farthest, along - 10);
    apart = std::max(apart, std::abs(moved(warp(0, 0, 0.3, 0), sample).first - 10));
    bent += std::pow(moved(warp(0, 0, 0, 0.5), sample).first - 10, 2) / 200;
  }
  CHECK(least == Approx(-30).margin(1.5));
  CHECK(most == Approx(30).margin(1.5));
  CHECK(nearest == Approx(4.05).margin(0.1));  // the edge goes on beyond itself
  CHECK(farthest > 5.7);                       // cut by the edge from 5.8 on
  CHECK(farthest < 6.05);
  CHECK(apart == Approx(1.5).margin(0.15));
  CHECK(std::sqrt(bent) > 0.2);
  CHECK(std::sqrt(bent) < 1.0);
  CHECK(augmented(spot(8, 12), picture, warp(0, 0, 0, 0), unit, {1, 0, 0, 0}) == spot(8, 12));
}

TEST_CASE("a warp is refused where an axis closes, or there are three") {
  const char* const message =
      "augment.warp bends pictures, fields over two axes that are not periodic; remove it, and set shift and reflect "
      "as these fields allow";
  REQUIRE_THROWS_WITH(require_fitting(warp(5, 0, 0, 0), shape), message);
  REQUIRE_THROWS_WITH(require_fitting(warp(5, 0, 0, 0), FieldShape{1, {4, 4, 4}, {0, 0, 0}}), message);
}
