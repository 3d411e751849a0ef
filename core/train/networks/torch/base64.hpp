#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace cambium::train {

inline constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes as text (RFC 4648), for use in JSON.
inline std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (at + k < bytes.size() ? static_cast<std::uint8_t>(bytes[at + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += at + k <= bytes.size() ? base64_digits[three >> (18 - 6 * k) & 63u] : '=';
  }
  return out;
}

/// Decodes such a text; stops at the first invalid character.
inline std::string from_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const auto digit = base64_digits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((held += 6) < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 255u);
  }
  return out;
}

}  // namespace cambium::train
