#pragma once
#include <string>

namespace cambium::io {

/// Converts a text to UTF-8. Text that is not UTF-8 is taken for Latin-1 or Windows-1252, as older programs write units
/// and headings with a degree sign: each of its bytes becomes a character of Latin-1.
std::string utf8(std::string text);

}  // namespace cambium::io
