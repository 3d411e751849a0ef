#pragma once
#include <string>
#include <string_view>

namespace cambium {

/// The column of a sweep's table that a result with this key has. Columns keep the names that they had when they were
/// made of the words of the summary: tables, `theory` and `x-doctor` of older decks know them by these.
std::string column_of_result(std::string_view key);

}  // namespace cambium
