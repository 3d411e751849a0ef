#include "core/lowp/microscaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::lowp {

double SmallFloat::largest() const {
  const int fraction = (1 << fraction_bits) - 1 - (has_nan() && !has_infinity() ? 1 : 0);
  return std::ldexp(1.0 + std::ldexp(fraction, -fraction_bits), largest_exponent());
}

std::uint8_t SmallFloat::code(double x) const {
  const unsigned sign = std::signbit(x) ? 1u << (bits() - 1) : 0u;
  if (std::isnan(x)) return static_cast<std::uint8_t>(has_nan() ? (1u << (bits() - 1)) - 1 : 0u);
  const double magnitude = std::min(std::fabs(x), largest());
  if (magnitude == 0.0) return static_cast<std::uint8_t>(sign);
  const int exponent = std::max(std::ilogb(magnitude), least_exponent());
  // Below the least exponent, and where rounding carries into the next one, the same sum of both fields holds.
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
  return static_cast<std::uint8_t>(sign |
                                   ((static_cast<unsigned>(exponent - least_exponent()) << fraction_bits) + steps));
}

double SmallFloat::value(std::uint8_t code) const {
  const int exponent = (code >> fraction_bits) & ((1 << exponent_bits) - 1),
            fraction = code & ((1 << fraction_bits) - 1);
  const double sign = (code >> (bits() - 1)) & 1 ? -1.0 : 1.0;
  const bool highest = exponent == (1 << exponent_bits) - 1;
  if (highest && has_infinity())
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (highest && has_nan() && fraction == (1 << fraction_bits) - 1) return std::numeric_limits<double>::quiet_NaN();
  const int whole = exponent == 0 ? 0 : 1 << fraction_bits;
  return sign * std::ldexp(whole + fraction, std::max(exponent, 1) - bias() - fraction_bits);
}

namespace {

constexpr int scale_bias = 127, no_scale = 255;

/// Scale of `count` values, `stride` apart. Zeros have the smallest one.
template <class T>
int scale_of(const SmallFloat& element, const T* values, std::int64_t count, std::int64_t stride) {
  double most = 0.0;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto x = static_cast<double>(values[k * stride]);
    if (!std::isfinite(x)) return no_scale;
    most = std::max(most, std::fabs(x));
  }
  if (most == 0.0) return 0;
  return std::clamp(std::ilogb(most) - element.largest_exponent() + scale_bias, 0, no_scale - 1);
}

double scaled(const SmallFloat& element, std::uint8_t code, int scale) {
  if (scale == no_scale) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(element.value(code), scale - scale_bias);
}

template <class T>
void round_block(const Microscaled& format, T* values, std::int64_t count, std::int64_t stride) {
  const int scale = scale_of(format.element, values, count, stride);
  for (std::int64_t k = 0; k < count; ++k) {
    T& x = values[k * stride];
    const auto code = format.element.code(std::ldexp(static_cast<double>(x), scale_bias - scale));
    x = static_cast<T>(scaled(format.element, code, scale));
  }
}

/// f(k, number k) of a message.
template <class F>
void each(const Microscaled& format, std::span<const std::byte> in, std::size_t count, F&& f) {
  if (static_cast<std::int64_t>(in.size()) != format.bytes(static_cast<std::int64_t>(count)))
    throw InternalError("low-bit blocks have another length than their values");
  const bool halves = format.element.bits() == 4;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t within = k % Microscaled::block;
    const auto* block = in.data() + k / Microscaled::block * static_cast<std::size_t>(format.block_bytes());
    const auto byte = static_cast<std::uint8_t>(block[halves ? within / 2 : within]);
    const auto code = static_cast<std::uint8_t>(!halves ? byte : within % 2 ? byte >> 4 : byte & 15);
    f(k, static_cast<float>(scaled(format.element, code, static_cast<int>(block[format.block_bytes() - 1]))));
  }
}

}  // namespace

void encode_blocks(const Microscaled& format, std::span<const float> values, std::span<std::byte> out) {
  const std::int64_t n = std::ssize(values);
  if (static_cast<std::int64_t>(out.size()) != format.bytes(n))
    throw InternalError("low-bit blocks have another length than their values");
  const bool halves = format.element.bits() == 4;
  for (std::int64_t at = 0; at < n; at += Microscaled::block) {
    std::array<float, Microscaled::block> block{};
    std::copy_n(values.data() + at, std::min(Microscaled::block, n - at), block.begin());
    const int scale = scale_of(format.element, block.data(), Microscaled::block, 1);
    std::byte* const to = out.data() + at / Microscaled::block * format.block_bytes();
    std::fill_n(to, format.block_bytes(), std::byte{0});
    for (std::size_t k = 0; scale != no_scale && k < block.size(); ++k) {
      const auto code =
          static_cast<unsigned>(format.element.code(std::ldexp(static_cast<double>(block[k]), scale_bias - scale)));
      to[halves ? k / 2 : k] |= static_cast<std::byte>(halves && k % 2 ? code << 4 : code);
    }
    to[format.block_bytes() - 1] = static_cast<std::byte>(scale);
  }
}

void decode_blocks(const Microscaled& format, std::span<const std::byte> in, std::span<float> values) {
  each(format, in, values.size(), [&](std::size_t k, float x) { values[k] = x; });
}

void add_blocks(const Microscaled& format, std::span<const std::byte> in, std::span<float> values) {
  each(format, in, values.size(), [&](std::size_t k, float x) { values[k] += x; });
}

template <class T>
void round_rows_to_blocks(const Microscaled& format, std::span<T> values, std::int64_t width) {
  for (std::int64_t row = 0; row < std::ssize(values); row += width)
    for (std::int64_t at = 0; at < width; at += Microscaled::block)
      round_block(format, values.data() + row + at, std::min(Microscaled::block, width - at), 1);
}

template <class T>
void round_columns_to_blocks(const Microscaled& format, std::span<T> values, std::int64_t width) {
  const std::int64_t rows = std::ssize(values) / width;
  for (std::int64_t at = 0; at < rows; at += Microscaled::block)
    for (std::int64_t column = 0; column < width; ++column)
      round_block(format, values.data() + at * width + column, std::min(Microscaled::block, rows - at), width);
}

template void round_rows_to_blocks<float>(const Microscaled&, std::span<float>, std::int64_t);
template void round_rows_to_blocks<double>(const Microscaled&, std::span<double>, std::int64_t);
template void round_columns_to_blocks<float>(const Microscaled&, std::span<float>, std::int64_t);
template void round_columns_to_blocks<double>(const Microscaled&, std::span<double>, std::int64_t);

}  // namespace cambium::lowp
