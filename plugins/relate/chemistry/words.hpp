#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace cambium::relate {

/// Number of possible words (k-mers) of this length.
std::int64_t words_in_all(std::int64_t letters);

/// The words (k-mers) of a sequence as indices from 0 to words_in_all() - 1, in the sequence's order; repeated words
/// are repeated. Case is ignored. InputError for a sequence shorter than a word, and, with its position, for any
/// character that is not a letter.
std::vector<std::int32_t> word_rows(std::string_view sequence, std::int64_t letters);

}  // namespace cambium::relate
