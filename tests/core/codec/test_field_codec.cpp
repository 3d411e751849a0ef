// Fields in pieces: the same bytes for any number of threads, the bound everywhere, and no damaged stream gets through.
#include <cmath>

#include "core/codec/fields/field_codec.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

using Shape = std::vector<std::int64_t>;

std::vector<float> waves(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t k = 0; k < n; ++k)
    x[k] =
        std::sin(0.01f * static_cast<float>(k)) + 1e-3f * static_cast<float>(Random4(8, Stream::test, k, 0).normal(0));
  return x;
}

}  // namespace

TEST_CASE("a field in pieces does not depend on threads, and keeps one bound") {
  for (const auto& shape : {Shape{40, 500}, Shape{1, 40, 500}, Shape{7, 3000}, Shape{20000}, Shape{3, 1, 7000}}) {
    std::size_t n = 1;
    for (auto extent : shape) n *= static_cast<std::size_t>(extent);
    const auto x = waves(n);
    FieldCoding coding;
    coding.bound = {LossyBound::Kind::relative, 1e-3};
    coding.piece = 3000;
    FieldReport report;
    const auto one = encode_field<float>(x, shape, coding, report);
    CHECK(report.pieces > 1);
    CHECK(report.bytes == one.size());
    coding.threads = 3;
    CHECK(encode_field<float>(x, shape, coding, report) == one);
    const auto info = field_info(one);
    CHECK(info.plain.shape == shape);
    CHECK(info.pieces == report.pieces);
    std::vector<float> y(n), z(n);
    decode_field<float>(one, y);
    decode_field<float>(one, z, nullptr, 3);
    CHECK(y == z);
    double worst = 0.0;
    for (std::size_t k = 0; k < n; ++k) worst = std::max(worst, std::abs(static_cast<double>(x[k]) - y[k]));
    CHECK(worst <= info.plain.bound);
    coding.piece = std::int64_t{1} << 24;
    CHECK(encode_field<float>(x, shape, coding, report) == lossy_encode<float>(x, shape, coding.bound));
    CHECK(report.pieces == 1);
  }
}

TEST_CASE("pieces of a constant field, and of one without a finite value, are exact") {
  for (const float value : {1.25f, NAN}) {
    const std::vector<float> x(8000, value);
    FieldCoding coding;
    coding.piece = 1000;
    FieldReport report;
    const auto bytes = encode_field<float>(x, Shape{8000}, coding, report);
    std::vector<float> y(x.size());
    decode_field<float>(bytes, y);
    CHECK(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("pieces that learn report how many did") {
  std::vector<float> x;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 40; ++j)
      for (int k = 0; k < 40; ++k)
        x.push_back(std::tanh(0.8f * (static_cast<float>(i % 32) - 14 + 5 * std::sin(0.25f * j) * std::cos(0.2f * k))));
  FieldCoding coding;
  coding.learned.emplace().fit.groups = 2;
  coding.piece = 32 * 1600;
  coding.threads = 2;
  FieldReport report;
  const auto bytes = encode_field<float>(x, Shape{64, 40, 40}, coding, report);
  CHECK(report.pieces == 2);
  CHECK(report.enhanced <= 2);
  CHECK(field_info(bytes).enhanced == (report.enhanced == 2));
  std::vector<float> y(x.size());
  decode_field<float>(bytes, y);
  double worst = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) worst = std::max(worst, std::abs(static_cast<double>(x[k]) - y[k]));
  CHECK(worst <= field_info(bytes).plain.bound);
}

TEST_CASE("damaged pieces are refused") {
  const auto x = waves(4000);
  FieldCoding coding;
  coding.piece = 1000;
  FieldReport report;
  const auto bytes = encode_field<float>(x, Shape{40, 100}, coding, report);
  std::vector<float> y(x.size());
  std::size_t passed = 0;
  auto refused = [&](std::span<const std::byte> damaged) {
    try {
      decode_field<float>(damaged, y);
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    passed += !refused(std::span(bytes).first(n));
    auto flipped = bytes;
    flipped[n] ^= static_cast<std::byte>(1u << (n % 8));
    passed += !refused(flipped);
  }
  CHECK(passed == 0);
  std::vector<float> short_by_one(3999);
  CHECK(message([&] { decode_field<float>(bytes, short_by_one); }) ==
        "the compressed array has 4000 values, expected 3999");
}
