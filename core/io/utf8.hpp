#pragma once
#include <string>

namespace cambium::io {

/// A text as UTF-8. One that is none was written in Latin-1 or Windows-1252, as units and headings with a degree sign
/// are by older programs: each of its bytes is then a character of Latin-1.
std::string utf8(std::string text);

}  // namespace cambium::io
