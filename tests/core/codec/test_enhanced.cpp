// Learned corrections: the bound holds whatever the array holds, streams that gain nothing are the plain ones, and
// what was fitted to one frame serves the next.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/codec/fields/enhanced.hpp"
#include "core/codec/fields/fit_hidden.hpp"
#include "core/codec/fields/least_squares.hpp"
#include "core/codec/fields/places.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"
#include "tests/core/codec/worst.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

using Shape = std::vector<std::int64_t>;
constexpr LossyBound thousandth{LossyBound::Kind::relative, 1e-3};

/// Fronts that move with `t`, in a field at rest.
template <class T>
std::vector<T> fronts(const Shape& shape, double t = 0.0) {
  std::vector<T> x;
  for (int i = 0; i < shape[0]; ++i)
    for (int j = 0; j < shape[1]; ++j)
      for (int k = 0; k < shape[2]; ++k)
        x.push_back(static_cast<T>(std::tanh(0.8 * (i - 14 - t + 5 * std::sin(0.25 * j) * std::cos(0.2 * k))) +
                                   0.5 * std::tanh(0.6 * (k - 20 + 4 * std::cos(0.3 * j + 0.1 * t)))));
  return x;
}

std::vector<float> noise(std::size_t n, std::uint64_t id) {
  std::vector<float> x(n);
  for (std::size_t k = 0; k < n; ++k) x[k] = static_cast<float>(Random4(5, Stream::test, k, id).normal(0));
  return x;
}

/// Encodes and decodes; `corrected` says whether corrections were worth it.
template <class T>
long double round_trip(const std::vector<T>& x, const Shape& shape, LossyBound bound, const EnhancedCoding& coding,
                       EnhancedReport& report, std::vector<T>& y) {
  const auto bytes = enhanced_encode<T>(x, shape, bound, LossyPredictor::automatic, coding, {}, report);
  y.assign(x.size(), T(0));
  CHECK(is_enhanced(bytes) == report.kept);
  if (!report.kept) {
    lossy_decode<T>(bytes, y);
    return worst(x, y, std::max(lossy_info(bytes).bound, 1e-300));
  }
  enhanced_decode<T>(bytes, y);
  return worst(x, y, enhanced_info(bytes).plain.bound);
}

}  // namespace

TEST_CASE("least squares in steps of one scale: exact where it can be, close to the best elsewhere") {
  // b = 2 a0 - a1 + 0.5 of the third: in steps of 2 / 127.
  NormalEquations sums(3);
  double before = 0.0;
  for (int k = 0; k < 400; ++k) {
    const Random4 r(6, Stream::test, static_cast<std::uint64_t>(k), 0);
    const float row[3] = {static_cast<float>(r.normal(0)), static_cast<float>(r.normal(1)), 1.0f};
    const float b = 2 * row[0] - row[1] + 0.5f;
    sums.add(row, b);
    before += b * b;
  }
  const auto w = sums.solve_in_steps();
  CHECK(w.steps[0] == 127);
  CHECK(std::abs(w.scale * w.steps[0] - 2.0) < 0.01);
  CHECK(std::abs(w.scale * w.steps[1] + 1.0) < 0.02);
  CHECK(std::abs(w.scale * w.steps[2] - 0.5) < 0.02);
  const auto none = NormalEquations(4).solve_in_steps();
  CHECK(none.scale == 0.0f);
  CHECK(none.steps == std::vector<std::int8_t>(4, 0));
}

TEST_CASE("rising places come back") {
  for (const auto& places : {std::vector<std::uint64_t>{}, {0}, {0, 1, 2, 130, 131, 100000}, {999999}}) {
    ByteWriter out;
    put_places(places, out);
    ByteReader in(out.bytes());
    CHECK(get_places(in, 1000000) == places);
    ByteReader again(out.bytes());
    if (!places.empty()) CHECK_THROWS_AS(get_places(again, places.back()), DamagedStream);
  }
}

TEMPLATE_TEST_CASE("strict corrections keep the bound and make fronts better", "", float, double) {
  const Shape shape{48, 48, 48};
  constexpr LossyBound hundredth{LossyBound::Kind::relative, 1e-2};
  const auto x = fronts<TestType>(shape);
  EnhancedReport report;
  std::vector<TestType> y;
  CHECK(round_trip<TestType>(x, shape, hundredth, {}, report, y) <= 1.0);
  CHECK(report.kept);
  CHECK(report.text().find("enhanced by ") == 0);
  // The plain codec as it would have to be for an error as small, found here by halving: it is longer.
  const double decibel = psnr<TestType>(x, y);
  double coarse = 1e-2, fine = 1e-4;
  std::size_t plain = 0;
  for (int k = 0; k < 12; ++k) {
    const double middle = std::sqrt(coarse * fine);
    const auto bytes = lossy_encode<TestType>(x, shape, {LossyBound::Kind::relative, middle});
    std::vector<TestType> back(x.size());
    lossy_decode<TestType>(bytes, back);
    if (psnr<TestType>(x, back) < decibel) {
      coarse = middle;
    } else {
      fine = middle;
      plain = bytes.size();
    }
  }
  CHECK(report.bytes < plain);
  CHECK(static_cast<double>(report.rival_bytes) < 1.02 * static_cast<double>(plain));
  EnhancedCoding loose;
  loose.strict = false;
  const double most = static_cast<double>(round_trip<TestType>(x, shape, hundredth, loose, report, y));
  CHECK(most <= 1.7501);
  CHECK(report.exceptions == 0.0);
}

TEST_CASE("a PSNR is that of the corrected field") {
  const Shape shape{48, 48, 48};
  const auto x = fronts<float>(shape);
  const LossyBound bound{LossyBound::Kind::psnr, 55.0};
  EnhancedReport report;
  std::vector<float> y(x.size());
  const auto bytes = enhanced_encode<float>(x, shape, bound, LossyPredictor::automatic, {}, {}, report);
  REQUIRE(report.kept);
  enhanced_decode<float>(bytes, y);
  CHECK(psnr<float>(x, y) >= 55.0);
  CHECK(psnr<float>(x, y) < 55.5);
  CHECK(bytes.size() < lossy_encode<float>(x, shape, bound).size());
}

TEST_CASE("corrections that leave no error at all end the search for a bound") {
  std::vector<float> x(5000, 0.0f);
  std::fill(x.begin() + 2500, x.end(), 1.0f);
  for (const double decibel : {20.0, 40.0, 60.0, 80.0}) {
    INFO(decibel << " dB");
    EnhancedReport report;
    std::vector<float> y;
    round_trip<float>(x, Shape{5000}, {LossyBound::Kind::psnr, decibel}, EnhancedCoding{}, report, y);
    CHECK(psnr<float>(x, y) >= decibel);
  }
}

TEST_CASE("corrections of anything keep the bound, and what is not finite its bits") {
  std::size_t values = 0;
  for (const auto& shape :
       {Shape{2000}, Shape{60, 50}, Shape{12, 13, 14}, Shape{6, 7, 8, 9}, Shape{3}, Shape{1, 1}, Shape{0}})
    for (int kind = 0; kind < 4; ++kind) {
      std::size_t n = 1;
      for (auto extent : shape) n *= static_cast<std::size_t>(extent);
      auto x = noise(n, static_cast<std::uint64_t>(kind));
      for (std::size_t k = 0; k < n; ++k) {
        if (kind == 1) x[k] = std::sin(0.03f * static_cast<float>(k)) + 0.01f * x[k];
        if (kind == 2 && k % 7 == 0) x[k] = k % 2 ? NAN : INFINITY;
        if (kind == 3) x[k] *= std::pow(10.0f, 30.0f * x[k] / 5.0f);
      }
      INFO("kind " << kind << ", rank " << shape.size() << ", " << n);
      for (double bound : {1e-1, 1e-3}) {
        EnhancedReport report;
        std::vector<float> y;
        EnhancedCoding coding;
        coding.fit.groups = 4;
        CHECK(round_trip<float>(x, shape, {LossyBound::Kind::relative, bound}, coding, report, y) <= 1.0);
        values += n;
      }
    }
  CHECK(values > 30000);
}

TEST_CASE("where nothing is to be gained, the stream is the plain one, and it is said") {
  const Shape shape{64, 64};
  const auto x = noise(64 * 64, 7);
  EnhancedReport report;
  const auto bytes = enhanced_encode<float>(x, shape, thousandth, LossyPredictor::automatic, {}, {}, report);
  CHECK(bytes == lossy_encode<float>(x, shape, thousandth));
  CHECK(!report.kept);
  CHECK(report.text().find("stored without enhancers: ") == 0);
  const std::vector<float> constant(100, 1.0f);
  enhanced_encode<float>(constant, Shape{100}, thousandth, LossyPredictor::automatic, {}, {}, report);
  CHECK(report.text() == "stored exactly; there is nothing to enhance");
}

TEST_CASE("where a plain stream does as well with fewer bytes, it is the one that is stored") {
  // Waves: corrections gain half a decibel, for weights that are longer than what a finer bound costs.
  const Shape shape{180, 240};
  std::vector<float> x;
  for (int i = 0; i < shape[0]; ++i)
    for (int j = 0; j < shape[1]; ++j)
      x.push_back(static_cast<float>(std::sin(0.02 * j) * std::cos(0.03 * i) + 0.3 * std::sin(0.05 * j + 0.02 * i)));
  EnhancedReport report;
  const auto bytes = enhanced_encode<float>(x, shape, thousandth, LossyPredictor::automatic, {}, {}, report);
  INFO(report.text());
  CHECK(!report.kept);
  CHECK(report.rival_bytes > 0);
  CHECK(report.rival_bytes < 1.01 * static_cast<double>(report.bytes));
  CHECK(report.text().find("the plain codec does as well with ") != std::string::npos);
  CHECK(bytes == lossy_encode<float>(x, shape, thousandth));
}

TEST_CASE("a large field without anything to learn costs a few operations for each value") {
  const Shape shape{64, 64, 64};
  const auto x = noise(64 * 64 * 64, 8);
  EnhancedReport report;
  enhanced_encode<float>(x, shape, thousandth, LossyPredictor::automatic, {}, {}, report);
  CHECK(report.stopped_early);
  CHECK(report.text().find("stored without enhancers: fitted to a few values, nearest neighbours gain ") == 0);
  CHECK(report.fit.operations <= 60.0 * static_cast<double>(x.size()));
  // A fit takes a hundred times as many.
  EnhancerReport whole;
  std::vector<float> decoded(x.size());
  const auto plain = lossy_encode<float>(x, shape, thousandth);
  lossy_decode<float>(plain, decoded);
  fit_enhancer<float>(x, decoded, FieldShape(shape), lossy_info(plain).bound, {}, {}, plain.size(), 12.0, whole);
  CHECK(whole.operations > 100.0 * report.fit.operations);
}

TEST_CASE("weights of one frame serve the next, which then needs them") {
  const Shape shape{32, 40, 40};
  EnhancedReport report;
  const auto weights =
      enhancer_for<float>(fronts<float>(shape), shape, thousandth, LossyPredictor::automatic, {}, {}, report);
  REQUIRE(weights);
  const auto stored = Enhancer::from(weights->bytes());
  CHECK(stored.bytes() == weights->bytes());
  const auto next = fronts<float>(shape, 2.0);
  EnhancedCoding coding;
  coding.weights = &stored;
  EnhancedReport with;
  const auto bytes = enhanced_encode<float>(next, shape, thousandth, LossyPredictor::automatic, coding, {}, with);
  REQUIRE(is_enhanced(bytes));
  CHECK(with.weight_bytes == 0);
  std::vector<float> y(next.size());
  enhanced_decode<float>(bytes, y, &stored);
  CHECK(worst(next, y, enhanced_info(bytes).plain.bound) <= 1.0);
  CHECK(message([&] { enhanced_decode<float>(bytes, y); }) ==
        "the weights of a compressed array are stored elsewhere, in the data set it came from; read it from there");
  auto cut = weights->bytes();
  cut.pop_back();
  CHECK(message([&] { Enhancer::from(cut); }) ==
        "the weights of an enhancer are damaged; copy the file again from its source");
}

TEST_CASE("a field helps another one that it knows something of") {
  const Shape shape{128, 128};
  // What the codec loses of the first field is in the second one, which is stored more exactly.
  const auto fine = noise(128 * 128, 3);
  std::vector<float> x(fine.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 3.0f * std::sin(0.001f * static_cast<float>(k)) + 0.05f * fine[k];
  const auto coded = lossy_encode<float>(fine, shape, thousandth);
  std::vector<float> known(fine.size());
  lossy_decode<float>(coded, known);
  const HelpingField<float> helping[] = {{known, lossy_info(coded).bound}};
  const LossyBound coarse{LossyBound::Kind::relative, 1e-2};
  EnhancedReport alone, helped;
  EnhancedCoding coding;
  coding.fit.groups = 2;
  enhanced_encode<float>(x, shape, coarse, LossyPredictor::automatic, coding, {}, alone);
  const auto bytes = enhanced_encode<float>(x, shape, coarse, LossyPredictor::automatic, coding, helping, helped);
  REQUIRE(helped.kept);
  CHECK(helped.gain > alone.gain + 2.0);
  CHECK(helped.rival_bytes > 1.1 * static_cast<double>(helped.bytes));
  std::vector<float> y(x.size());
  enhanced_decode<float>(bytes, y, nullptr, helping);
  CHECK(worst(x, y, enhanced_info(bytes).plain.bound) <= 1.0);
  CHECK(message([&] { enhanced_decode<float>(bytes, y); }) ==
        "the compressed array was encoded with the help of 1 other fields, 0 are given; decode them first and hand "
        "them over in "
        "the same order");
}

TEST_CASE("networks with a hidden layer learn what no linear one can") {
  // What is missing is the size of the difference to the left neighbour: even in it, so that linear weights find
  // nothing.
  const Shape shape{96, 96};
  const auto decoded = noise(96 * 96, 12);
  const double bound = 1.0;
  auto original = decoded;
  for (std::size_t k = 1; k < original.size(); ++k)
    if (k % 96 != 0) original[k] += 0.3f * std::min(std::abs(decoded[k] - decoded[k - 1]), 2.0f) - 0.3f;
  FitSettings settings;
  settings.groups = 1;
  settings.seconds = 4.0;
  settings.network = FitSettings::Network::convolution;
  EnhancerReport report;
  const auto e = fit_enhancer<float>(original, decoded, FieldShape(shape), bound, {}, settings, 20000, 12.0, report);
  CHECK(report.kept_hidden);
  CHECK(report.gain > report.linear_gain + 1.0);
  auto corrected = decoded;
  Enhancer::from(e.bytes()).apply<float>(corrected, FieldShape(shape), bound);
  CHECK(psnr<float>(original, corrected) > psnr<float>(original, decoded) + report.gain - 0.5);
}

TEST_CASE("corrected streams that were cut or changed anywhere are refused") {
  const Shape shape{48, 48, 48};
  const auto x = fronts<float>(shape);
  EnhancedReport report;
  EnhancedCoding coding;
  coding.fit.groups = 2;
  const auto bytes = enhanced_encode<float>(x, shape, {LossyBound::Kind::relative, 1e-2}, LossyPredictor::automatic,
                                            coding, {}, report);
  REQUIRE(report.kept);
  std::vector<float> y(x.size());
  auto refused = [&](std::span<const std::byte> damaged) {
    try {
      is_enhanced(damaged) ? enhanced_decode<float>(damaged, y) : lossy_decode<float>(damaged, y);
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  std::size_t passed = 0;
  for (std::size_t n = 0; n < bytes.size(); n += n < 200 ? 1 : 97) {
    passed += !refused(std::span(bytes).first(n));
    auto flipped = bytes;
    flipped[n] ^= static_cast<std::byte>(1u << (n % 8));
    passed += !refused(flipped);
  }
  CHECK(passed == 0);
}

TEST_CASE("messages of fitting") {
  const std::vector<float> x{1, 2, 3};
  EnhancerReport report;
  auto said = [&](FitSettings settings) {
    return message([&] { fit_enhancer<float>(x, x, FieldShape(Shape{3}), 1.0, {}, settings, 100, 12.0, report); });
  };
  CHECK(said({.groups = 0}) == "an enhancer has 0 groups; give 1 to 64, for example 10");
  CHECK(said({.seconds = 0.0}) == "an enhancer has 0 s to be fitted; give a positive time, for example 10 s");
}
