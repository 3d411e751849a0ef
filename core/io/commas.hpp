#pragma once
#include <algorithm>
#include <string_view>

namespace cambium::io {

/// Judges the numbers of a column whose commas are taken for decimal points: spreadsheets also write commas between
/// thousands.
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
  /// Every comma stands before three digits, as in 12,000, and other numbers of the column have none: a writer of
  /// decimals would have written those with one, too, or would have left zeros away.
  bool may_be_thousands() const { return some_ && grouped_ && others_; }

 private:
  static bool is_grouped(std::string_view number) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!number.empty() && (number.front() == '-' || number.front() == '+')) number.remove_prefix(1);
    const auto comma = number.find(',');
    const auto before = number.substr(0, comma), behind = number.substr(comma + 1);
    return !before.empty() && before.size() <= 3 && before.front() != '0' && behind.size() == 3 &&
           std::all_of(before.begin(), before.end(), digit) && std::all_of(behind.begin(), behind.end(), digit);
  }

  bool some_ = false, grouped_ = true, others_ = false;
};

}  // namespace cambium::io
