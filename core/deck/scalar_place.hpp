#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace cambium::deck {

/// 1-based line and column, in characters.
struct TextPlace {
  int line = 0;
  int column = 0;
  bool operator==(const TextPlace&) const = default;
};

/// Source location of byte `index` of a YAML scalar's text, if the scalar begins at `begin` (at its quote or block
/// indicator, if it has one). None if source and text do not match.
std::optional<TextPlace> place_in_scalar(std::string_view source, TextPlace begin, std::string_view text,
                                         std::size_t index);

/// The same for character `column` (from 1) of the text, in a file. If the file cannot be read or does not match, the
/// location is counted from the beginning, which is right for one-line texts.
TextPlace place_in_file(const std::string& file, TextPlace begin, bool quoted, std::string_view text,
                        std::size_t column);

}  // namespace cambium::deck
