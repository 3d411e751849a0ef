#include "core/io/cf/calendar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/text.hpp"

namespace cambium::io::cf {
namespace {

constexpr std::int64_t first_gregorian = 2299161;  // Julian day number of 1582-10-15

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - b * floor_div(a, b); }

bool julian_leap(std::int64_t year) { return floor_mod(year, 4) == 0; }
bool gregorian_leap(std::int64_t year) {
  return julian_leap(year) && (floor_mod(year, 100) != 0 || floor_mod(year, 400) == 0);
}

/// Days of a year of 365 or 366 days before a month.
int days_before(int month, bool leap) {
  constexpr std::array before{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  return before[month - 1] + (leap && month > 2 ? 1 : 0);
}

/// Julian day number of the first of January.
std::int64_t julian_year_start(std::int64_t year) { return 1721058 + 365 * year + floor_div(year + 3, 4); }
std::int64_t gregorian_year_start(std::int64_t year) {
  const std::int64_t y = year - 1;
  return 1721426 + 365 * y + floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400);
}

/// Year and day of the year, by a guess from the mean length that is too early by a year at most.
template <class Start>
std::pair<std::int64_t, int> year_of(std::int64_t day, double mean, std::int64_t zero, Start start) {
  auto year = static_cast<std::int64_t>(static_cast<double>(day - zero) / mean) - 2;
  while (start(year + 1) <= day) ++year;
  return {year, static_cast<int>(day - start(year))};
}

Date in_year(std::int64_t year, int day_of_year, bool leap) {
  int month = 12;
  while (month > 1 && days_before(month, leap) > day_of_year) --month;
  return {year, month, day_of_year - days_before(month, leap) + 1};
}

std::int64_t julian_day(const Date& d) {
  return julian_year_start(d.year) + days_before(d.month, julian_leap(d.year)) + d.day - 1;
}
std::int64_t gregorian_day(const Date& d) {
  return gregorian_year_start(d.year) + days_before(d.month, gregorian_leap(d.year)) + d.day - 1;
}
Date julian_date(std::int64_t day) {
  const auto [year, rest] = year_of(day, 365.25, 1721058, julian_year_start);
  return in_year(year, rest, julian_leap(year));
}
Date gregorian_date(std::int64_t day) {
  const auto [year, rest] = year_of(day, 365.2425, 1721060, gregorian_year_start);
  return in_year(year, rest, gregorian_leap(year));
}

bool before_reform(const Date& d) {
  return d.year < 1582 || (d.year == 1582 && (d.month < 10 || (d.month == 10 && d.day < 15)));
}

bool is_leap(std::int64_t year, Calendar calendar) {
  switch (calendar) {
    case Calendar::all_leap:
      return true;
    case Calendar::noleap:
    case Calendar::days_360:
      return false;
    case Calendar::julian:
      return julian_leap(year);
    case Calendar::standard:
      return year < 1582 ? julian_leap(year) : gregorian_leap(year);
    case Calendar::proleptic_gregorian:
      break;
  }
  return gregorian_leap(year);
}

}  // namespace

std::optional<Calendar> calendar_named(std::string_view text) {
  std::string word(trim(text));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [name, calendar] : {std::pair{"", Calendar::standard},
                                       {"standard", Calendar::standard},
                                       {"gregorian", Calendar::standard},
                                       {"proleptic_gregorian", Calendar::proleptic_gregorian},
                                       {"julian", Calendar::julian},
                                       {"noleap", Calendar::noleap},
                                       {"no_leap", Calendar::noleap},
                                       {"365_day", Calendar::noleap},
                                       {"365", Calendar::noleap},
                                       {"all_leap", Calendar::all_leap},
                                       {"366_day", Calendar::all_leap},
                                       {"366", Calendar::all_leap},
                                       {"360_day", Calendar::days_360},
                                       {"360", Calendar::days_360}})
    if (word == name) return calendar;
  return std::nullopt;
}

std::string_view name_of(Calendar calendar) {
  constexpr std::array names{"standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"};
  return names[static_cast<std::size_t>(calendar)];
}

double days_per_year(Calendar calendar) {
  constexpr std::array days{365.2425, 365.2425, 365.25, 365.0, 366.0, 360.0};
  return days[static_cast<std::size_t>(calendar)];
}

int days_in_month(std::int64_t year, int month, Calendar calendar) {
  if (calendar == Calendar::days_360) return 30;
  const bool leap = is_leap(year, calendar);
  return (month == 12 ? (leap ? 366 : 365) : days_before(month + 1, leap)) - days_before(month, leap);
}

int days_in_year(std::int64_t year, Calendar calendar) {
  if (calendar == Calendar::days_360) return 360;
  if (calendar == Calendar::standard && year == 1582) return 355;
  return is_leap(year, calendar) ? 366 : 365;
}

bool is_date(const Date& d, Calendar calendar) {
  if (d.month < 1 || d.month > 12 || d.day < 1 || d.day > days_in_month(d.year, d.month, calendar)) return false;
  const bool left_out = d.year == 1582 && d.month == 10 && d.day > 4 && d.day < 15;
  return calendar != Calendar::standard || !left_out;
}

std::int64_t day_number(const Date& d, Calendar calendar) {
  switch (calendar) {
    case Calendar::days_360:
      return 360 * d.year + 30 * (d.month - 1) + d.day - 1;
    case Calendar::noleap:
      return 365 * d.year + days_before(d.month, false) + d.day - 1;
    case Calendar::all_leap:
      return 366 * d.year + days_before(d.month, true) + d.day - 1;
    case Calendar::julian:
      return julian_day(d);
    case Calendar::standard:
      return before_reform(d) ? julian_day(d) : gregorian_day(d);
    case Calendar::proleptic_gregorian:
      break;
  }
  return gregorian_day(d);
}

Date date_of(std::int64_t day, Calendar calendar) {
  switch (calendar) {
    case Calendar::days_360: {
      const auto rest = static_cast<int>(floor_mod(day, 360));
      return {floor_div(day, 360), rest / 30 + 1, rest % 30 + 1};
    }
    case Calendar::noleap:
      return in_year(floor_div(day, 365), static_cast<int>(floor_mod(day, 365)), false);
    case Calendar::all_leap:
      return in_year(floor_div(day, 366), static_cast<int>(floor_mod(day, 366)), true);
    case Calendar::julian:
      return julian_date(day);
    case Calendar::standard:
      return day < first_gregorian ? julian_date(day) : gregorian_date(day);
    case Calendar::proleptic_gregorian:
      break;
  }
  return gregorian_date(day);
}

std::string text_of(const Date& d) { return fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day); }

}  // namespace cambium::io::cf
