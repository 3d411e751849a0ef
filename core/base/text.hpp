#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cambium {

/// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other; case and '-' versus '_' are
/// free.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate most similar to a misspelt word; none if none is close (more than a third of its letters, at least
/// one, differ). The first of equally close candidates wins.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'nearest'?" or, when nothing is near, "; known: a, b, c" (nothing for an empty list).
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

std::string join(std::span<const std::string> words, std::string_view separator = ", ");
std::string_view trim(std::string_view text);

/// Content of a file; empty if it cannot be read, for example if it is a folder.
std::string text_of_file(const std::string& path);

/// Shortest decimal text that reads back as the same double.
std::string number_text(double value);

/// Parses the text as one number (surrounding blanks allowed); none for hexadecimal, infinite or trailing text.
std::optional<double> parse_number(std::string_view text);

}  // namespace cambium
