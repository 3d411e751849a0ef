// Activations: the bound holds for every element, zeros stay zeros and nothing else becomes one, whatever the array
// holds.
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/codec/sparse.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

/// Smooth maps with noise, spikes, tiny numbers and a share of zeros; `kind` picks the mixture.
template <class T>
std::vector<T> fuzz(std::size_t n, std::uint64_t kind) {
  std::vector<T> out(n);
  const double zeros = std::array{0.0, 0.3, 0.7, 0.97}[kind % 4];
  const bool relu = kind / 4 % 2 == 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Random4 r(kind, Stream::test, k, 0);
    double x = std::sin(0.01 * static_cast<double>(k)) + 0.3 * (r.uniform(1) - 0.5);
    if (r.uniform(2) < 0.01) x *= std::pow(10.0, 12.0 * (r.uniform(3) - 0.5));
    if (relu) x = std::abs(x);
    out[k] = r.uniform(0) < zeros ? T{0} : static_cast<T>(x);
  }
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("the bound holds on ten million elements, and zeros are exact", "", float, double) {
  constexpr std::int64_t each = 312500;  // 16 kinds in each type: 10^7 elements together
  std::int64_t beyond = 0, moved = 0, flipped = 0;
  for (std::uint64_t kind = 0; kind < 16; ++kind) {
    const double bound = std::pow(10.0, -static_cast<double>(kind % 5));
    const auto values = fuzz<TestType>(each, kind);
    const std::int64_t shape[] = {5, 4, 125, 125};
    const auto bytes = encode_sparse(std::span<const TestType>(values), shape, bound, Keep::values);
    std::vector<TestType> back(values.size());
    decode_sparse(std::span<const std::byte>(bytes), std::span<TestType>(back));
    const bool positive = kind / 4 % 2 == 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      beyond += std::abs(static_cast<double>(back[k]) - static_cast<double>(values[k])) > bound;
      moved += (back[k] == TestType{0}) != (values[k] == TestType{0});
      flipped += positive && back[k] < TestType{0};
    }
  }
  CHECK(beyond == 0);
  CHECK(moved == 0);
  CHECK(flipped == 0);
}

TEST_CASE("signs alone: zeros and signs come back, in a bit or two per element") {
  for (std::uint64_t kind = 0; kind < 8; ++kind) {
    const auto values = fuzz<float>(40000, kind);
    const std::int64_t shape[] = {40000};
    const auto bytes = encode_sparse(std::span<const float>(values), shape, 1.0, Keep::signs);
    CHECK(bytes.size() < 40000 * 2 / 8 + 200);
    std::vector<float> back(values.size());
    decode_sparse(std::span<const std::byte>(bytes), std::span<float>(back));
    bool same = true;
    for (std::size_t k = 0; k < values.size(); ++k)
      same &= back[k] == (values[k] == 0.0f ? 0.0f : std::signbit(values[k]) ? -1.0f : 1.0f);
    CHECK(same);
  }
}

TEST_CASE("integers come back exactly, places of maxima in few bits") {
  std::vector<std::int64_t> places;
  for (std::int64_t y = 0; y < 100; ++y)
    for (std::int64_t x = 0; x < 100; ++x) {
      const auto r = Random4(3, Stream::test, static_cast<std::uint64_t>(100 * y + x), 0).uniform(0);
      places.push_back((2 * y + (r < 0.5)) * 200 + 2 * x + (r > 0.3 && r < 0.7));
    }
  const auto bytes = encode_integers(places);
  CHECK(places.size() * 8 > 12 * bytes.size());
  std::vector<std::int64_t> back(places.size());
  decode_integers(bytes, back);
  CHECK(back == places);
  const std::vector<std::int64_t> extremes{std::numeric_limits<std::int64_t>::min(), -1, 0, 1,
                                           std::numeric_limits<std::int64_t>::max()};
  std::vector<std::int64_t> again(extremes.size());
  decode_integers(encode_integers(extremes), again);
  CHECK(again == extremes);
}

TEST_CASE("a bound that is none is refused") {
  const auto values = fuzz<float>(2000, 0);
  const std::int64_t shape[] = {2000};
  for (double bound : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(encode_sparse(std::span<const float>(values), shape, bound, Keep::values), InputError);
}
