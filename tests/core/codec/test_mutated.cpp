// A hundred thousand damaged streams. Those that were changed from outside are refused by their checksums; those whose
// checksums were made anew, as no accident does, are refused or decoded to other numbers, and never read or write
// beyond an array (run with -DCAMBIUM_SANITIZE=ON).
#include <cmath>
#include <cstring>

#include "core/base/error.hpp"
#include "core/codec/fields/field_codec.hpp"
#include "core/codec/packed.hpp"
#include "core/codec/zfp_codec.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

using Bytes = std::vector<std::byte>;
using Shape = std::vector<std::int64_t>;

std::vector<float> fronts(const Shape& shape) {
  std::vector<float> x;
  for (int i = 0; i < shape[0]; ++i)
    for (int j = 0; j < shape[1]; ++j)
      x.push_back(static_cast<float>(std::tanh(0.7 * (i - 12 + 4 * std::sin(0.3 * j))) + 1e-4 * ((i * j) % 7)));
  return x;
}

/// Some bytes replaced, a piece taken out, a piece doubled, or the end cut off; at least one byte is another.
Bytes damaged(const Bytes& whole, std::uint64_t id) {
  const Random4 r(9, Stream::test, id, 0), s(9, Stream::test, id, 1);
  Bytes out = whole;
  const auto at = static_cast<std::size_t>(r.bits[1]) % out.size();
  const auto n = std::min(out.size() - at, 1 + static_cast<std::size_t>(r.bits[2]) % 16);
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(at);
  switch (r.bits[0] % 4) {
    case 0:
      for (std::size_t k = 0; k < n; ++k)
        out[at + k] ^= static_cast<std::byte>(1 + (s.bits[k % 4] >> (k % 3 * 8)) % 255);
      break;
    case 1:
      out.erase(begin, begin + static_cast<std::ptrdiff_t>(n));
      break;
    case 2: {
      const Bytes piece(begin, begin + static_cast<std::ptrdiff_t>(n));
      out.insert(begin, piece.begin(), piece.end());
      break;
    }
    default:
      out.resize(at);
  }
  return out;
}

bool refused(const Bytes& bytes, std::vector<float>& values) {
  try {
    decode_field<float>(bytes, values);
  } catch (const InputError&) {
    return true;
  }
  return false;
}

/// The stream with the payload changed and every checksum right.
Bytes repacked(const Bytes& stream, std::size_t rank, std::uint64_t id) {
  const std::size_t header = 8 + sizeof(double) + rank * sizeof(std::int64_t) + sizeof(std::uint64_t);
  Bytes head(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(header));
  std::uint64_t length = 0;
  std::memcpy(&length, head.data() + header - sizeof length, sizeof length);
  const auto payload = damaged(unpack(std::span(stream).subspan(header), head, length), id);
  length = payload.size();
  std::memcpy(head.data() + header - sizeof length, &length, sizeof length);
  const auto packed = pack(payload, head);
  head.insert(head.end(), packed.begin(), packed.end());
  return head;
}

}  // namespace

TEST_CASE("streams that were damaged from outside are refused, all of them") {
  const Shape shape{32, 40};
  const auto x = fronts(shape);
  std::vector<Bytes> streams;
  for (auto predictor : {LossyPredictor::interpolation, LossyPredictor::lorenzo})
    streams.push_back(lossy_encode<float>(x, shape, {LossyBound::Kind::relative, 1e-3}, predictor));
  FieldCoding coding;
  coding.piece = 300;
  FieldReport report;
  streams.push_back(encode_field<float>(x, shape, coding, report));
  std::vector<float> y(x.size());
  std::size_t passed = 0, tried = 0;
  for (std::uint64_t id = 0; id < 50000; ++id) {
    const auto& whole = streams[id % streams.size()];
    const auto other = damaged(whole, id);
    if (other == whole) continue;
    ++tried, passed += !refused(other, y);
  }
  CHECK(tried > 45000);
  CHECK(passed == 0);
}

TEST_CASE("streams with checksums made anew never read or write beyond an array") {
  const Shape shape{32, 40};
  const auto x = fronts(shape);
  std::vector<LossyPredictor> predictors{LossyPredictor::interpolation, LossyPredictor::lorenzo};
  if (has_zfp()) predictors.push_back(LossyPredictor::zfp);
  std::vector<Bytes> streams;
  for (auto predictor : predictors)
    streams.push_back(lossy_encode<float>(x, shape, {LossyBound::Kind::relative, 1e-3}, predictor));
  std::vector<float> y(x.size());
  std::size_t refusals = 0;
  for (std::uint64_t id = 0; id < 50000; ++id)
    refusals += refused(repacked(streams[id % streams.size()], shape.size(), 100000 + id), y);
  CHECK(refusals > 1000);
}

TEST_CASE("damaged weights are refused, or correct something else") {
  const Shape shape{32, 40};
  const auto x = fronts(shape);
  EnhancerReport report;
  FitSettings settings;
  settings.groups = 3;
  settings.seconds = 0.2;
  settings.network = FitSettings::Network::convolution;
  const auto coded = lossy_encode<float>(x, shape, {LossyBound::Kind::relative, 1e-2});
  std::vector<float> decoded(x.size());
  lossy_decode<float>(coded, decoded);
  const FieldShape field(shape);
  const double bound = lossy_info(coded).bound;
  const auto weights = fit_enhancer<float>(x, decoded, field, bound, {}, settings, coded.size(), 12.0, report).bytes();
  std::size_t refusals = 0, applied = 0;
  for (std::uint64_t id = 0; id < 2000; ++id) try {
      auto y = decoded;
      Enhancer::from(damaged(weights, 200000 + id)).apply<float>(y, field, bound);
      ++applied;
    } catch (const InputError&) {
      ++refusals;
    } catch (const DamagedStream&) {
      ++refusals;
    }
  CHECK(refusals + applied == 2000);
  CHECK(refusals > 500);
}
