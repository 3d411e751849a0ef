#pragma once
#include <string>
#include <string_view>

namespace cambium {

/// The column of a sweep's table for the result with this key. Columns keep the names that were formed from the words
/// of the summary, since tables, `theory` and `x-doctor` of older decks refer to these.
std::string column_of_result(std::string_view key);

}  // namespace cambium
