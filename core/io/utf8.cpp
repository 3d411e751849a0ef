#include "core/io/utf8.hpp"

namespace cambium::io {

/// Bytes that follow a first one in UTF-8; -1 for one that cannot be the first.
static int bytes_behind(unsigned char c) {
  if (c < 0x80) return 0;
  if (c >= 0xc2 && c < 0xe0) return 1;
  if (c >= 0xe0 && c < 0xf0) return 2;
  return c >= 0xf0 && c < 0xf5 ? 3 : -1;
}

static bool is_utf8(const std::string& text) {
  for (std::size_t k = 0; k < text.size(); ++k)
    for (int left = bytes_behind(static_cast<unsigned char>(text[k])); left != 0; --left)
      if (left < 0 || ++k == text.size() || (static_cast<unsigned char>(text[k]) & 0xc0u) != 0x80u) return false;
  return true;
}

std::string utf8(std::string text) {
  if (is_utf8(text)) return text;
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
      continue;
    }
    out += static_cast<char>(0xc0u | byte >> 6);
    out += static_cast<char>(0x80u | (byte & 0x3fu));
  }
  return out;
}

}  // namespace cambium::io
