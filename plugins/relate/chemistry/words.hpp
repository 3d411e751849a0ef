#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace cambium::relate {

/// How many words of so many letters of the alphabet there are.
std::int64_t words_in_all(std::int64_t letters);

/// The words of a sequence: each run of so many letters, as a number from 0 to words_in_all() - 1, in the sequence's
/// order; a word that occurs twice stands twice. Small letters count as large ones. InputError for a sequence that is
/// shorter than a word, and for anything but letters; it names the place.
std::vector<std::int32_t> word_rows(std::string_view sequence, std::int64_t letters);

}  // namespace cambium::relate
