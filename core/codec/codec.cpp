#include "core/codec/codec.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.hpp"
#include "core/codec/huffman.hpp"
#include "core/codec/interpolation.hpp"
#include "core/codec/lorenzo.hpp"

namespace cambium::lowp {
namespace {

// Stream: magic, version, bytes per value, method, rank (one byte each after the magic), bound, extents, length of the
// payload, payload by Zstandard. The payload of method `exact` is the array with the bytes of equal rank side by side.
constexpr std::array<char, 4> magic{'C', 'L', 'S', 'Y'};
constexpr std::uint8_t version = 1;
enum Method : std::uint8_t { exact = 0, interpolation = 1, lorenzo = 2 };
constexpr int zstd_level = 3;

std::int64_t product(std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (auto extent : shape) n *= extent;
  return n;
}

/// 0 asks for exact storage: a constant array, or one without a finite value.
template <class T>
double absolute_bound(std::span<const T> values, LossyBound bound) {
  if (!(bound.value > 0) || !std::isfinite(bound.value))
    throw InputError(
        fmt::format("the error bound of a compressed array is {}; give a positive number, such as 1e-4", bound.value));
  if (bound.kind == LossyBound::Kind::absolute) return bound.value;
  T low = std::numeric_limits<T>::infinity(), high = -low;
  for (T x : values)
    if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
  if (!(low < high)) return 0.0;
  const double absolute = bound.value * (static_cast<double>(high) - static_cast<double>(low));
  return std::isfinite(absolute) ? absolute : 0.0;
}

/// Byte k of every value together: exponents are alike, and Zstandard sees it.
std::vector<std::byte> by_rank(std::span<const std::byte> bytes, std::size_t width, bool back) {
  std::vector<std::byte> out(bytes.size());
  const std::size_t n = bytes.size() / width;
  for (std::size_t k = 0; k < width; ++k)
    for (std::size_t i = 0; i < n; ++i)
      back ? out[i * width + k] = bytes[k * n + i] : out[k * n + i] = bytes[i * width + k];
  return out;
}

template <class T>
std::vector<std::byte> payload(std::span<const T> values, const FieldShape& shape, double bound, Method method) {
  ByteWriter out;
  if (method == exact) return by_rank(std::as_bytes(values), sizeof(T), false);
  if (method == lorenzo) {
    lorenzo_encode(values.data(), shape, bound, out);
    return out.take();
  }
  std::vector<T> work(values.begin(), values.end());
  const InterpolationPlan plan(work.data(), shape, bound);
  Quantized<T> quantized;
  interpolate_encode(work.data(), shape, plan, bound, quantized);
  plan.put(out);
  out.put_list(quantized.exceptions);
  huffman_encode(quantized.codes, out);
  return out.take();
}

std::vector<std::byte> pack(std::span<const std::byte> bytes) {
  std::vector<std::byte> out(ZSTD_compressBound(bytes.size()));
  const auto n = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), zstd_level);
  if (ZSTD_isError(n)) throw InternalError(fmt::format("Zstandard: {}", ZSTD_getErrorName(n)));
  out.resize(n);
  return out;
}

std::vector<std::byte> unpack(std::span<const std::byte> bytes, std::uint64_t length) {
  // The length is that of the frame too, so that a damaged one cannot ask for any amount of memory.
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != length) throw DamagedStream{};
  std::vector<std::byte> out(length);
  if (ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size()) != length) throw DamagedStream{};
  return out;
}

struct Header {
  LossyInfo info;
  Method method = exact;
  std::uint64_t length = 0;
};

Header read_header(ByteReader& in) {
  Header h;
  if (in.get<std::array<char, 4>>() != magic || in.get<std::uint8_t>() != version) throw DamagedStream{};
  h.info.bytes_per_value = in.get<std::uint8_t>();
  const auto method = in.get<std::uint8_t>();
  const int rank = in.get<std::uint8_t>();
  h.info.bound = in.get<double>();
  std::int64_t n = 1;
  for (int k = 0; k < rank; ++k) {
    const auto extent = in.get<std::int64_t>();
    if (extent < 0 || (extent > 0 && n > (std::int64_t{1} << 40) / extent)) throw DamagedStream{};
    n *= extent;
    h.info.shape.push_back(extent);
  }
  if (method > lorenzo || (h.info.bytes_per_value != 4 && h.info.bytes_per_value != 8)) throw DamagedStream{};
  h.method = static_cast<Method>(method);
  h.info.predictor = method == exact     ? LossyPredictor::automatic
                     : method == lorenzo ? LossyPredictor::lorenzo
                                         : LossyPredictor::interpolation;
  h.length = in.get<std::uint64_t>();
  return h;
}

template <class T>
void decode_payload(const Header& h, std::span<const std::byte> bytes, std::span<T> values) {
  if (h.method == exact) {
    if (bytes.size() != values.size_bytes()) throw DamagedStream{};
    const auto plain = by_rank(bytes, sizeof(T), true);
    if (!plain.empty()) std::memcpy(values.data(), plain.data(), plain.size());
    return;
  }
  ByteReader in(bytes);
  const FieldShape shape(h.info.shape);
  if (h.method == lorenzo) return lorenzo_decode(in, shape, h.info.bound, values.data());
  const InterpolationPlan plan(in, shape);
  Quantized<T> quantized;
  quantized.exceptions = in.get_list<T>();
  quantized.codes.resize(values.size());
  huffman_decode(in, quantized.codes);
  interpolate_decode(quantized, shape, plan, h.info.bound, values.data());
}

}  // namespace

std::int64_t LossyInfo::elements() const { return product(shape); }

template <class T>
std::vector<std::byte> lossy_encode(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound wanted,
                                    LossyPredictor predictor) {
  if (product(shape) != std::ssize(values) || shape.size() > 32)
    throw InternalError("lossy_encode: the shape does not have the number of values");
  const double bound = absolute_bound(values, wanted);
  const FieldShape field(shape);
  Method method = bound == 0.0 || values.empty()         ? exact
                  : predictor == LossyPredictor::lorenzo ? lorenzo
                                                         : interpolation;
  auto bytes = payload(values, field, bound, method);
  auto packed = pack(bytes);
  auto instead = [&](Method other, double factor) {
    auto others = payload(values, field, bound, other);
    if (auto p = pack(others); p.size() < factor * packed.size())
      bytes = std::move(others), packed = std::move(p), method = other;
  };
  if (method == interpolation && predictor == LossyPredictor::automatic) instead(lorenzo, 0.95);
  if (method != exact && packed.size() > values.size_bytes()) instead(exact, 1.0);
  ByteWriter out;
  out.put(magic);
  for (std::uint8_t byte : {version, std::uint8_t(sizeof(T)), std::uint8_t(method), std::uint8_t(shape.size())})
    out.put(byte);
  out.put(method == exact ? 0.0 : bound);
  out.put(shape);
  out.put<std::uint64_t>(bytes.size());
  out.put(std::span<const std::byte>(packed));
  return out.take();
}

LossyInfo lossy_info(std::span<const std::byte> bytes) try {
  ByteReader in(bytes);
  return read_header(in).info;
} catch (const DamagedStream&) {
  throw InputError("this is not an array compressed by Cambium, or only a part of one; copy it again from its source");
}

template <class T>
void lossy_decode(std::span<const std::byte> bytes, std::span<T> values) try {
  ByteReader in(bytes);
  const Header h = read_header(in);
  if (h.info.bytes_per_value != sizeof(T) || h.info.elements() != std::ssize(values))
    throw InputError(fmt::format("the compressed array has {} values of {} bytes, expected {} of {} bytes",
                                 h.info.elements(), h.info.bytes_per_value, values.size(), sizeof(T)));
  decode_payload(h, unpack(in.rest(), h.length), values);
} catch (const DamagedStream&) {
  throw InputError("a compressed array is damaged; copy it again from its source");
}

#define CAMBIUM_LOSSY_OF(T)                                                                                      \
  template std::vector<std::byte> lossy_encode<T>(std::span<const T>, std::span<const std::int64_t>, LossyBound, \
                                                  LossyPredictor);                                               \
  template void lossy_decode<T>(std::span<const std::byte>, std::span<T>);
CAMBIUM_LOSSY_OF(float)
CAMBIUM_LOSSY_OF(double)
#undef CAMBIUM_LOSSY_OF

}  // namespace cambium::lowp
