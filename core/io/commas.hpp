#pragma once
#include <algorithm>
#include <string_view>

namespace cambium::io {

/// Checks the values of a column whose commas are taken for decimal points: spreadsheets also write commas as thousands
/// separators.
class Commas {
 public:
  void add(std::string_view number) {
    const bool comma = number.find(',') != std::string_view::npos;
    if (comma) {
      some_ = true;
      grouped_ = grouped_ && is_grouped(number);
    }
    if (!comma && !number.empty()) others_ = true;
  }
  /// True if every comma precedes three digits, as in 12,000, and other values of the column have none: a writer of
  /// decimals would have used one there, too, or would have dropped trailing zeros.
  bool may_be_thousands() const { return some_ && grouped_ && others_; }
  /// True if every value has a comma before three digits: only decimals(), of another column, tell what it is.
  bool is_ambiguous() const { return some_ && grouped_ && !others_; }
  /// True if a comma cannot separate thousands.
  bool decimals() const { return some_ && !grouped_; }

  /// True for a number with a comma before three digits, as 12,000.
  static bool is_grouped(std::string_view number) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!number.empty() && (number.front() == '-' || number.front() == '+')) number.remove_prefix(1);
    const auto comma = number.find(',');
    if (comma == std::string_view::npos) return false;
    const auto before = number.substr(0, comma), behind = number.substr(comma + 1);
    return !before.empty() && before.size() <= 3 && before.front() != '0' && behind.size() == 3 &&
           std::all_of(before.begin(), before.end(), digit) && std::all_of(behind.begin(), behind.end(), digit);
  }

 private:
  bool some_ = false, grouped_ = true, others_ = false;
};

}  // namespace cambium::io
