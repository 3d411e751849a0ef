#include "core/codec/sparse.hpp"

#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/codec/bytes.hpp"
#include "core/codec/codec.hpp"

namespace cambium::lowp {

namespace {

constexpr int fast_zstd_level = 1;

std::vector<std::byte> squeeze(std::span<const std::byte> in) {
  std::vector<std::byte> out(ZSTD_compressBound(in.size()));
  const auto n = ZSTD_compress(out.data(), out.size(), in.data(), in.size(), fast_zstd_level);
  if (ZSTD_isError(n)) throw InternalError("Zstandard refused an array of activations");
  out.resize(n);
  out.shrink_to_fit();
  return out;
}

std::vector<std::byte> widen(const std::vector<std::byte>& in, std::size_t size) {
  std::vector<std::byte> out(size);
  const auto n = ZSTD_decompress(out.data(), size, in.data(), in.size());
  if (ZSTD_isError(n) || n != size) throw InternalError("an array of activations was damaged in memory");
  return out;
}

/// One bit per element for which `f` holds.
template <class T, class F>
std::vector<std::byte> bits_of(std::span<const T> values, F&& f) {
  std::vector<std::byte> out((values.size() + 7) / 8);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (f(values[k])) out[k / 8] |= std::byte{1} << (k % 8);
  return out;
}

bool bit(const std::vector<std::byte>& bits, std::size_t k) {
  return (bits[k / 8] >> (k % 8) & std::byte{1}) != std::byte{0};
}

enum class Form : std::uint8_t { signs, dense, sparse };

}  // namespace

template <class T>
std::vector<std::byte> encode_sparse(std::span<const T> values, std::span<const std::int64_t> shape, double bound,
                                     Keep keep) {
  const auto zeros = static_cast<std::size_t>(std::count(values.begin(), values.end(), T{0}));
  const bool negative = std::any_of(values.begin(), values.end(), [](T x) { return std::signbit(x) && x != T{0}; });
  ByteWriter out;
  const auto begin = [&](Form form) {
    out.put(form);
    out.put<std::uint8_t>(negative);
    out.put<double>(bound);
    out.put<std::uint64_t>(zeros);
    if (zeros > 0) out.put_list(squeeze(bits_of(values, [](T x) { return x != T{0}; })));
  };
  if (keep == Keep::signs) {
    begin(Form::signs);
    if (negative) out.put_list(squeeze(bits_of(values, [](T x) { return std::signbit(x); })));
    return out.take();
  }
  const LossyBound within{LossyBound::Kind::absolute, bound};
  std::vector<std::byte> dense, sparse;
  if (2 * zeros < values.size()) dense = lossy_encode(values, shape, within, LossyPredictor::lorenzo);
  // Without its zeros an array is shorter but loses its neighbourhoods: if zeros are few, the shorter of both is taken.
  if (16 * zeros > values.size()) {
    std::vector<T> rest;
    rest.reserve(values.size() - zeros);
    std::copy_if(values.begin(), values.end(), std::back_inserter(rest), [](T x) { return x != T{0}; });
    const std::int64_t n = std::ssize(rest);
    if (n > 0) sparse = lossy_encode(std::span<const T>(rest), std::span(&n, 1), within, LossyPredictor::lorenzo);
    if (dense.empty() || sparse.size() < dense.size()) {
      begin(Form::sparse);
      if (n > 0) out.put_list(sparse);
      return out.take();
    }
  }
  begin(Form::dense);
  out.put_list(dense);
  return out.take();
}

template <class T>
void decode_sparse(std::span<const std::byte> bytes, std::span<T> values) {
  ByteReader in(bytes);
  const auto form = in.get<Form>();
  const bool negative = in.get<std::uint8_t>() != 0;
  const auto half = static_cast<T>(0.5 * in.get<double>());
  const auto zeros = in.get<std::uint64_t>();
  if (zeros > values.size()) throw DamagedStream{};
  std::vector<std::byte> there;
  if (zeros > 0) there = widen(in.get_list<std::byte>(), (values.size() + 7) / 8);
  const auto present = [&](std::size_t k) { return zeros == 0 || bit(there, k); };
  if (form == Form::signs) {
    std::vector<std::byte> signs;
    if (negative) signs = widen(in.get_list<std::byte>(), (values.size() + 7) / 8);
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = !present(k) ? T{0} : negative && bit(signs, k) ? T{-1} : T{1};
    return;
  }
  // A small value may have been rounded to zero: it was within the bound of zero, and of the same sign as the others if
  // none is negative.
  const auto mended = [&](T x) {
    if (negative) return x == T{0} ? std::numeric_limits<T>::min() : x;
    return x <= T{0} ? half : x;
  };
  if (form == Form::dense) {
    lossy_decode(std::span<const std::byte>(in.get_list<std::byte>()), values);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = present(k) ? mended(values[k]) : T{0};
    return;
  }
  std::vector<T> rest(values.size() - zeros);
  if (!rest.empty()) lossy_decode(std::span<const std::byte>(in.get_list<std::byte>()), std::span<T>(rest));
  auto next = rest.begin();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (present(k) && next == rest.end()) throw DamagedStream{};
    values[k] = present(k) ? mended(*next++) : T{0};
  }
}

template std::vector<std::byte> encode_sparse<float>(std::span<const float>, std::span<const std::int64_t>, double,
                                                     Keep);
template std::vector<std::byte> encode_sparse<double>(std::span<const double>, std::span<const std::int64_t>, double,
                                                      Keep);
template void decode_sparse<float>(std::span<const std::byte>, std::span<float>);
template void decode_sparse<double>(std::span<const std::byte>, std::span<double>);

std::vector<std::byte> encode_integers(std::span<const std::int64_t> values) {
  // Groups bytes of equal significance: the upper ones of small differences are all alike.
  std::vector<std::byte> planes(values.size() * 8);
  std::uint64_t before = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto now = static_cast<std::uint64_t>(values[k]), step = now - before;
    const std::uint64_t folded = step << 1 ^ (step >> 63 != 0 ? ~std::uint64_t{0} : 0);
    for (std::size_t b = 0; b < 8; ++b) planes[b * values.size() + k] = static_cast<std::byte>(folded >> (8 * b));
    before = now;
  }
  return squeeze(planes);
}

void decode_integers(std::span<const std::byte> bytes, std::span<std::int64_t> values) {
  const auto planes = widen({bytes.begin(), bytes.end()}, values.size() * 8);
  std::uint64_t before = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::uint64_t folded = 0;
    for (std::size_t b = 0; b < 8; ++b) folded |= static_cast<std::uint64_t>(planes[b * values.size() + k]) << (8 * b);
    before += folded >> 1 ^ ((folded & 1) != 0 ? ~std::uint64_t{0} : 0);
    values[k] = static_cast<std::int64_t>(before);
  }
}

}  // namespace cambium::lowp
