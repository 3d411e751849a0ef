// Plumes by the rule of the deck, how they are judged, and what finds them without a network.
#include <cmath>

#include "plugins/superres/datasets/baselines.hpp"
#include "plugins/superres/datasets/mirrors.hpp"
#include "plugins/superres/datasets/overlap.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::superres;

namespace {

using Classes = std::vector<std::uint8_t>;

/// Two heights, four places, one moment.
FieldData moment(std::vector<double> b, std::vector<double> w) {
  FieldData out;
  out.axis = {{{0.0}, {0.0, 1.0, 2.0, 3.0}, {0.25, 0.75}}};
  out.names = {"b", "w"};
  out.values = {std::move(b), std::move(w)};
  return out;
}

/// Waves, and classes by a formula of the temperature and the place.
template <class F>
PlumeImage image(int number, F&& classify) {
  PlumeImage out{24, 12, true, {}, {}};
  for (int x = 0; x < 24; ++x)
    for (int z = 0; z < 12; ++z) {
      const double t = std::sin(2.0 * M_PI * (x + 3 * number) / 24.0 + 0.4 * z) + 0.6 * std::cos(0.9 * z + number * x);
      out.temperature.push_back(static_cast<float>(t + 0.1 * z));
      out.classes.push_back(static_cast<std::uint8_t>(classify(t, z)));
    }
  return out;
}

double judged(const std::vector<PlumeImage>& images, const auto& baseline) {
  double sum = 0.0;
  for (const auto& i : images) sum += mean_overlap(baseline(i), i.classes);
  return sum / static_cast<double>(images.size());
}

}  // namespace

TEST_CASE("a plume is off the mean of its height, and carries heat there") {
  // Means of the heights: 1 and -1. Anomalies 2, -2, 0, 0 below and 0, 0, 2, -2 above, root mean square sqrt(2).
  const auto data = moment({3, -1, -1, -1, 1, 1, 1, -3}, {1, 5, -1, 5, 1, 0.1, 1, -0.1});
  CHECK(anomaly(data, 0) == std::vector<double>{2, 0, -2, 0, 0, 2, 0, -2});
  // Heat: 2, 0, 2, 0, 0, .2, 0, .2, root mean square 1.005.
  CHECK(plumes_of(data, {1.0, 1.0}) == Classes{1, 0, 2, 0, 0, 0, 0, 0});
  CHECK(plumes_of(data, {1.0, 0.1}) == Classes{1, 0, 2, 0, 0, 1, 0, 2});
  CHECK(plumes_of(data, {1.5, 0.1}) == Classes(8, 0));
  CHECK(plumes_of(moment({3, -1, -1, -1, 1, 1, 1, -3}, {-1, 5, 1, 5, 1, -1, 1, 1}), {1.0, 0.1}) == Classes(8, 0));
  auto hidden = data;
  hidden.hidden = {1, 0, 0, 0, 0, 0, 0, 0};
  CHECK(plumes_of(hidden, {1.0, 0.1})[0] == 0);
}

TEST_CASE("intersection over union: by hand, and 1 of a class that is neither there nor found") {
  const Classes truth{0, 0, 1, 2}, found{0, 1, 1, 0};
  const auto each = overlaps(found, truth);
  CHECK(each[0] == Approx(1.0 / 3.0));
  CHECK(each[1] == Approx(0.5));
  CHECK(each[2] == 0.0);
  CHECK(mean_overlap(found, truth) == Approx((1.0 / 3.0 + 0.5) / 3.0));
  CHECK(mean_overlap(truth, truth) == 1.0);
  CHECK(overlaps(Classes{0, 0}, Classes{0, 0})[1] == 1.0);
  CHECK(overlaps(Classes{0, 1}, Classes{0, 0})[1] == 0.0);
}

TEST_CASE("a threshold finds what a threshold made, a regression of each point what its height decides, too") {
  std::vector<PlumeImage> flat, tilted;
  for (int k = 0; k < 4; ++k) {
    flat.push_back(image(k, [](double t, int) { return t > 0.8 ? 1 : t < -0.8 ? 2 : 0; }));
    tilted.push_back(image(k, [](double t, int z) { return t > 0.2 + 0.1 * z ? 1 : t < -1.4 + 0.1 * z ? 2 : 0; }));
  }
  CHECK(judged(flat, ThresholdBaseline(flat)) > 0.85);
  const double threshold = judged(tilted, ThresholdBaseline(tilted)),
               regression = judged(tilted, LogisticBaseline(tilted));
  INFO(threshold << " " << regression);
  CHECK(threshold < 0.75);
  CHECK(regression > 0.85);
}

TEST_CASE("symmetries: all places and both mirrors come about equally often, and again") {
  std::array<int, 8> moved{};
  int x = 0, z = 0;
  constexpr int draws = 4000;
  for (int k = 0; k < draws; ++k) {
    const auto m = mirror_of(3, k % 50, k / 50, 8);
    ++moved[m.moved], x += m.x, z += m.z;
    const auto again = mirror_of(3, k % 50, k / 50, 8);
    REQUIRE((again.moved == m.moved && again.x == m.x && again.z == m.z));
  }
  for (const int n : moved) CHECK(std::abs(n - draws / 8) < 120);
  CHECK(std::abs(x - draws / 2) < 160);
  CHECK(std::abs(z - draws / 2) < 160);
}
