#include "core/io/cf/date_text.hpp"

#include <cctype>
#include <cmath>
#include <string>

#include "core/base/text.hpp"

namespace cambium::io::cf {
namespace {

/// Parses a text from its front; every function consumes what it recognises, or nothing.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(trim(text)) {}
  bool done() const { return left_.empty(); }
  bool take(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool take_blanks() {
    const auto before = left_.size();
    while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front()))) left_.remove_prefix(1);
    return left_.size() < before;
  }
  /// For small letters; the text may have large ones.
  bool take_word(std::string_view word) {
    if (left_.size() < word.size()) return false;
    for (std::size_t k = 0; k < word.size(); ++k)
      if (std::tolower(static_cast<unsigned char>(left_[k])) != word[k]) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  std::string_view take_digits() {
    std::size_t n = 0;
    while (n < left_.size() && std::isdigit(static_cast<unsigned char>(left_[n]))) ++n;
    const auto out = left_.substr(0, n);
    left_.remove_prefix(n);
    return out;
  }
  /// +1, -1, or 0 without a sign.
  int take_sign() { return take('-') ? -1 : take('+') ? 1 : 0; }

 private:
  std::string_view left_;
};

int number(std::string_view digits) { return std::stoi(std::string(digits)); }
bool has(std::string_view digits, std::size_t fewest, std::size_t most) {
  return digits.size() >= fewest && digits.size() <= most;
}

std::optional<Date> take_date(Reader& text) {
  const int sign = text.take_sign();
  const auto digits = text.take_digits();
  if (!has(digits, 1, 8)) return std::nullopt;
  Date date;
  if (text.take('-')) {
    const auto month = text.take_digits();
    if (!has(digits, 1, 6) || !has(month, 1, 2)) return std::nullopt;
    date.year = number(digits);
    date.month = number(month);
    if (text.take('-')) {
      const auto day = text.take_digits();
      if (!has(day, 1, 2)) return std::nullopt;
      date.day = number(day);
    }
  } else if (digits.size() <= 4) {
    date.year = number(digits);
  } else if (digits.size() == 6 || digits.size() == 8) {
    date.year = number(digits.substr(0, 4));
    date.month = number(digits.substr(4, 2));
    if (digits.size() == 8) date.day = number(digits.substr(6, 2));
  } else {
    return std::nullopt;
  }
  if (sign < 0) date.year = -date.year;
  return date;
}

/// Fraction of a second after the decimal point, in seconds.
double take_fraction(Reader& text) {
  if (!text.take('.')) return 0.0;
  const auto digits = text.take_digits();
  return digits.empty() ? 0.0 : std::stod("0." + std::string(digits));
}

/// Seconds since midnight; hours only, with colons, or packed (0600, 060000.5).
std::optional<double> take_clock(Reader& text) {
  const auto digits = text.take_digits();
  if (!has(digits, 1, 6) || digits.size() == 3 || digits.size() == 5) return std::nullopt;
  int hour = number(digits.substr(0, 2)), minute = 0;
  double second = 0.0;
  if (digits.size() > 2) {
    minute = number(digits.substr(2, 2));
    if (digits.size() == 6) second = number(digits.substr(4, 2)) + take_fraction(text);
  } else if (text.take(':')) {
    const auto minutes = text.take_digits();
    if (!has(minutes, 1, 2)) return std::nullopt;
    minute = number(minutes);
    if (text.take(':')) {
      const auto seconds = text.take_digits();
      if (!has(seconds, 1, 2)) return std::nullopt;
      second = number(seconds) + take_fraction(text);
    }
  }
  if (hour > 23 || minute > 59 || second >= 61.0) return std::nullopt;
  return 3600.0 * hour + 60.0 * minute + second;
}

/// Seconds that a zone is ahead of UTC.
std::optional<double> take_zone(Reader& text) {
  if (text.done() || text.take_word("utc") || text.take_word("gmt") || text.take_word("z")) return 0.0;
  const int sign = text.take_sign();
  const auto digits = text.take_digits();
  if (!has(digits, 1, 4)) return std::nullopt;
  int hours = 0, minutes = 0;
  if (digits.size() > 2) {
    hours = number(digits.substr(0, digits.size() - 2));
    minutes = number(digits.substr(digits.size() - 2));
  } else
    hours = number(digits);
  if (digits.size() <= 2 && text.take(':')) {
    const auto more = text.take_digits();
    if (!has(more, 1, 2)) return std::nullopt;
    minutes = number(more);
  }
  if (hours > 23 || minutes > 59) return std::nullopt;
  return (sign < 0 ? -1.0 : 1.0) * (3600.0 * hours + 60.0 * minutes);
}

}  // namespace

std::optional<Moment> moment_of(std::string_view words, Calendar calendar) {
  Reader text(words);
  const auto date = take_date(text);
  if (!date || !is_date(*date, calendar)) return std::nullopt;
  double second = 0.0;
  const bool blank = text.take_blanks(), mark = text.take('T') || text.take('t');
  if (!text.done()) {
    // a zone may follow without a clock if a letter or a sign begins it
    Reader before = text;
    if (const auto clock = take_clock(text); clock && (blank || mark))
      second = *clock;
    else if (!mark)
      text = before;
    else
      return std::nullopt;
    text.take_blanks();
    const auto zone = take_zone(text);
    text.take_blanks();
    if (!zone || !text.done()) return std::nullopt;
    second -= *zone;
  } else if (mark) {
    return std::nullopt;
  }
  const double days = std::floor(second / 86400.0);
  return Moment{day_number(*date, calendar) + static_cast<std::int64_t>(days), second - 86400.0 * days};
}

}  // namespace cambium::io::cf
