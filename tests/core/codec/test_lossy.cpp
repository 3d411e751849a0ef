#include <cstring>
#include <limits>

#include "core/codec/codec.hpp"
#include "core/codec/zfp_codec.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"
#include "tests/core/codec/worst.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

using Shape = std::vector<std::int64_t>;
constexpr auto relative = LossyBound::Kind::relative, absolute = LossyBound::Kind::absolute;

std::size_t count(const Shape& shape) {
  std::size_t n = 1;
  for (auto extent : shape) n *= static_cast<std::size_t>(extent);
  return n;
}

/// Kinds of fields: 0 waves, 1 noise, 2 magnitudes from denormal to huge, 3 waves with gaps that are no numbers, 4
/// steps on a coarse grid, 5 raw bits.
template <class T>
std::vector<T> sample(const Shape& shape, int kind, std::uint64_t id) {
  std::vector<T> x(count(shape));
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Random4 r(3, Stream::test, k, id);
    const double wave = std::sin(0.05 * k) + 0.3 * std::cos(0.011 * k + 1.0) + 1e-3 * r.normal(0);
    double v = wave;
    if (kind == 1) v = r.normal(0);
    if (kind == 2)
      v = r.normal(0) * std::pow(10.0, (r.uniform(2) - 0.5) * 1.9 * std::numeric_limits<T>::max_exponent10);
    if (kind == 3 && r.bits[3] % 5 == 0) v = r.bits[2] % 3 == 0 ? -INFINITY : r.bits[2] % 3 == 1 ? INFINITY : NAN;
    if (kind == 4) v = std::round(2 * wave) + 0.5;
    x[k] = static_cast<T>(v);
    if (kind == 5) std::memcpy(&x[k], r.bits, sizeof(T));
  }
  return x;
}

template <class T>
double range(const std::vector<T>& x) {
  double low = INFINITY, high = -INFINITY;
  for (T v : x)
    if (std::isfinite(v)) low = std::min<double>(low, v), high = std::max<double>(high, v);
  return high - low;
}

template <class T>
long double round_trip(const std::vector<T>& x, const Shape& shape, LossyBound bound, LossyPredictor predictor) {
  const auto bytes = lossy_encode<T>(x, shape, bound, predictor);
  const auto info = lossy_info(bytes);
  CHECK(info.shape == shape);
  CHECK(info.bytes_per_value == sizeof(T));
  std::vector<T> y(x.size());
  lossy_decode<T>(bytes, y);
  const double limit = bound.kind == absolute ? bound.value : bound.value * range(x);
  CHECK(bytes.size() <= x.size() * sizeof(T) * 1.01 + 128);
  return worst(x, y, std::isfinite(limit) ? limit : 0.0);
}

/// Every kind of field in every shape: returns the number of values checked.
template <class T>
std::size_t fuzz(const std::vector<Shape>& shapes, const std::vector<double>& bounds) {
  std::size_t values = 0;
  std::uint64_t id = 0;
  for (const auto& shape : shapes)
    for (int kind = 0; kind < 6; ++kind) {
      const auto x = sample<T>(shape, kind, ++id);
      for (auto predictor : {LossyPredictor::interpolation, LossyPredictor::lorenzo})
        for (double bound : bounds)
          for (auto what : {relative, absolute}) {
            INFO("kind " << kind << ", bound " << bound << (what == relative ? " relative" : " absolute")
                         << ", predictor " << static_cast<int>(predictor) << ", rank " << shape.size());
            CHECK(round_trip(x, shape, {what, bound}, predictor) <= 1.0);
            values += x.size();
          }
    }
  return values;
}

}  // namespace

TEST_CASE("every value comes back within the bound, whatever the array holds") {
  const std::vector<double> bounds{1e-30, 1e-6, 1e-3, 0.5, 1e20};
  std::size_t values =
      fuzz<float>({{0}, {1}, {2}, {17}, {5, 1}, {1, 9}, {3, 4}, {2, 3, 4}, {2, 3, 2, 5, 3, 2}, {}}, bounds);
  values += fuzz<double>({{0}, {1}, {3}, {33}, {7, 1, 2}, {4, 5, 6}, {1, 1, 1, 1, 1, 4}}, bounds);
  values += fuzz<float>({{41, 67}, {11, 23, 31}, {220001}}, {1e-4, 1e-2});
  values += fuzz<double>({{64, 64}, {9, 8, 7, 10}, {70011}}, {1e-4, 1e-2});
  CHECK(values > 10000000);
}

TEST_CASE("a share of a range of a few of the smallest numbers is no more than that share") {
  // 6.87 units are rounded to 7: errors are counted in units, where the share is exact.
  std::vector<double> x(4096);
  const double unit = std::numeric_limits<double>::denorm_min();
  for (const long top : {687L, 6870L, 68700L, 1234567L}) {
    for (std::size_t k = 0; k < x.size(); ++k)
      x[k] =
          unit * static_cast<double>(Random4(11, Stream::test, k, static_cast<std::uint64_t>(top)).bits[0] % (top + 1));
    x[0] = 0.0;
    x[1] = unit * static_cast<double>(top);
    std::vector<LossyPredictor> predictors{LossyPredictor::interpolation, LossyPredictor::lorenzo};
    if (has_zfp()) predictors.push_back(LossyPredictor::zfp);
    for (const auto predictor : predictors)
      for (const double share : {1e-1, 1e-2, 1e-3, 3e-4}) {
        INFO("range " << top << " units, share " << share << ", predictor " << static_cast<int>(predictor));
        std::vector<double> y(x.size());
        lossy_decode<double>(lossy_encode<double>(x, Shape{64, 64}, {relative, share}, predictor), y);
        double most = 0.0;
        for (std::size_t k = 0; k < x.size(); ++k) most = std::max(most, std::abs(x[k] / unit - y[k] / unit));
        CHECK(most <= share * static_cast<double>(top));
      }
  }
}

TEST_CASE("what is not finite, and a constant, come back bit for bit") {
  std::vector<float> gaps(400, 1.5f);
  const std::uint32_t odd_nan = 0xffc12345;
  std::memcpy(&gaps[17], &odd_nan, 4);
  gaps[18] = -0.0f;
  gaps[399] = INFINITY;
  for (auto predictor : {LossyPredictor::automatic, LossyPredictor::interpolation, LossyPredictor::lorenzo}) {
    std::vector<float> back(400);
    lossy_decode<float>(lossy_encode<float>(gaps, Shape{20, 20}, {relative, 1e-3}, predictor), back);
    CHECK(std::memcmp(&back[17], &odd_nan, 4) == 0);
    CHECK(back[399] == INFINITY);
    const std::vector<double> constant(1000, 3.1), nothing(5, NAN);
    std::vector<double> same(1000), none(5);
    const auto bytes = lossy_encode<double>(constant, Shape{1000}, {relative, 1e-3}, predictor);
    CHECK(bytes.size() < 100);
    lossy_decode<double>(bytes, same);
    CHECK(same == constant);
    lossy_decode<double>(lossy_encode<double>(nothing, Shape{5}, {relative, 1e-3}, predictor), none);
    CHECK(std::memcmp(none.data(), nothing.data(), 40) == 0);
  }
}

TEST_CASE("a smooth field is small, and interpolation is better at it than differences") {
  const Shape shape{48, 48, 48};
  std::vector<double> x(count(shape));
  for (int i = 0, n = 0; i < 48; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 48; ++k, ++n)
        x[n] = std::sin(0.1 * i) * std::cos(0.13 * j + 0.02 * i) + 0.3 * std::sin(0.6 * k) +
               1e-4 * Random4(4, Stream::test, n, 0).normal(0);
  const auto interpolated = lossy_encode<double>(x, shape, {relative, 1e-3}, LossyPredictor::interpolation);
  const auto differences = lossy_encode<double>(x, shape, {relative, 1e-3}, LossyPredictor::lorenzo);
  CHECK(interpolated.size() < 8 * x.size() / 40);
  CHECK(interpolated.size() < differences.size());
  CHECK(lossy_info(lossy_encode<double>(x, shape, {relative, 1e-3})).predictor == LossyPredictor::interpolation);
  // Wrong extents, or none, are a worse prediction of the same bytes.
  CHECK(lossy_encode<double>(x, Shape{std::ssize(x)}, {relative, 1e-3}).size() > 1.2 * interpolated.size());
}

TEST_CASE("streams that were cut or changed anywhere are refused") {
  const auto x = sample<float>({24, 24}, 3, 9);
  for (auto predictor : {LossyPredictor::interpolation, LossyPredictor::lorenzo}) {
    const auto bytes = lossy_encode<float>(x, Shape{24, 24}, {relative, 1e-3}, predictor);
    std::vector<float> y(x.size());
    for (std::size_t n = 0; n < bytes.size(); ++n)
      CHECK_THROWS_AS(lossy_decode<float>(std::span(bytes).first(n), y), InputError);
    int refused = 0;
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      auto damaged = bytes;
      damaged[n] ^= static_cast<std::byte>(1u << (n % 8));
      try {
        lossy_decode<float>(damaged, y);
      } catch (const InputError&) {
        ++refused;
      }
    }
    CHECK(refused == static_cast<int>(bytes.size()));
  }
}

TEST_CASE("a bound by PSNR is met, and not by much more") {
  const Shape shape{40, 50};
  for (int kind : {0, 1, 3}) {
    const auto x = sample<float>(shape, kind, 11);
    for (double wanted : {40.0, 60.0, 90.0}) {
      INFO("kind " << kind << ", " << wanted << " dB");
      const auto bytes = lossy_encode<float>(x, shape, {LossyBound::Kind::psnr, wanted});
      std::vector<float> y(x.size());
      lossy_decode<float>(bytes, y);
      CHECK(psnr<float>(x, y) >= wanted);
      CHECK(psnr<float>(x, y) < wanted + 1.0);
      CHECK(worst(x, y, lossy_info(bytes).bound) <= 1.0);
    }
  }
  const std::vector<double> constant(100, 2.5);
  std::vector<double> same(100);
  lossy_decode<double>(lossy_encode<double>(constant, Shape{100}, {LossyBound::Kind::psnr, 60.0}), same);
  CHECK(same == constant);
}

TEST_CASE("a PSNR is that of tiny and of huge numbers, too") {
  const Shape shape{40, 50};
  for (const double unit : {1e-300, 1e-200, 1.0, 1e200}) {
    INFO("unit " << unit);
    auto x = sample<double>(shape, 0, 5);
    for (double& v : x) v *= unit;
    std::vector<double> y(x.size());
    lossy_decode<double>(lossy_encode<double>(x, shape, {LossyBound::Kind::psnr, 40.0}), y);
    long double square = 0.0L, low = x[0], high = x[0];
    for (std::size_t k = 0; k < x.size(); ++k) {
      const long double d = static_cast<long double>(x[k]) - static_cast<long double>(y[k]);
      square += d * d;
      low = std::min<long double>(low, x[k]);
      high = std::max<long double>(high, x[k]);
    }
    const auto found =
        static_cast<double>(20.0L * std::log10((high - low) / std::sqrt(square / static_cast<long double>(x.size()))));
    CHECK(found >= 40.0);
    CHECK(found < 41.0);
    CHECK(psnr<double>(x, y) == Approx(found));
  }
}

TEST_CASE("ZFP keeps the bound, with values beyond it beside its stream") {
  if (!has_zfp()) {
    CHECK(message([] {
            lossy_encode<float>(std::vector<float>{1, 2}, Shape{2}, {relative, 1e-3}, LossyPredictor::zfp);
          }) ==
          "this build has no ZFP; install it (Debian: libzfp-dev), configure and build again, or remove the codec");
    return;
  }
  for (const auto& shape : {Shape{17}, Shape{9, 30}, Shape{11, 12, 13}, Shape{3, 5, 6, 7}, Shape{1}})
    for (int kind = 0; kind < 5; ++kind) {
      INFO("kind " << kind << ", rank " << shape.size());
      CHECK(round_trip(sample<float>(shape, kind, 21), shape, {relative, 1e-3}, LossyPredictor::zfp) <= 1.0);
      CHECK(round_trip(sample<double>(shape, kind, 22), shape, {absolute, 1e-4}, LossyPredictor::zfp) <= 1.0);
    }
}

TEST_CASE("messages of the lossy codec") {
  const std::vector<float> x{1, 2, 3};
  for (double bound : {0.0, -1e-3})
    CHECK(message([&] {
            lossy_encode<float>(x, Shape{3}, {relative, bound});
          }) == "the error bound of a compressed array is " + std::string(bound == 0 ? "0" : "-0.001") +
                    "; give a positive number, such as 1e-4");
  CHECK(message([&] {
          lossy_encode<float>(x, Shape{3}, {LossyBound::Kind::psnr, 0.0});
        }) == "the PSNR of a compressed array is 0 dB; give a positive number, such as 80");
  CHECK(message([&] { lossy_info(std::as_bytes(std::span(x))); }) ==
        "this is not an array compressed by Cambium, or only a part of one; copy it again from its source");
  auto cut = lossy_encode<float>(x, Shape{3}, {relative, 0.1});
  cut.pop_back();
  std::vector<float> z(3);
  CHECK(message([&] { lossy_decode<float>(cut, z); }) ==
        "a compressed array is damaged; copy it again from its source");
  std::vector<double> y(3);
  CHECK(message([&] {
          lossy_decode<double>(lossy_encode<float>(x, Shape{3}, {relative, 0.1}), y);
        }) == "the compressed array has 3 values of 4 bytes, expected 3 of 8 bytes");
}
