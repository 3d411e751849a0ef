#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cambium::io::cf {

/// Calendars of CF 4.4.1. The standard one is Julian before 1582-10-15 and Gregorian from then on.
enum class Calendar { standard, proleptic_gregorian, julian, noleap, all_leap, days_360 };

struct Date {
  std::int64_t year = 1;  ///< with a year 0
  int month = 1, day = 1;
};

/// The calendar of an attribute `calendar`, under all its names, small or large letters; none for other text. Empty
/// text is the standard calendar.
std::optional<Calendar> calendar_named(std::string_view text);
/// Its name as CF writes it: "standard", "noleap".
std::string_view name_of(Calendar calendar);
/// Mean length of its year in days: 365.2425 (standard, proleptic), 365.25, 365, 366 or 360.
double days_per_year(Calendar calendar);

int days_in_month(std::int64_t year, int month, Calendar calendar);
int days_in_year(std::int64_t year, Calendar calendar);
/// False for the 31st of a month of 30 days, and for days that the standard calendar leaves out.
bool is_date(const Date& date, Calendar calendar);
/// Days from a fixed day of the calendar; of the Gregorian and Julian ones the Julian day number.
std::int64_t day_number(const Date& date, Calendar calendar);
Date date_of(std::int64_t day_number, Calendar calendar);
/// "1990-01-15"
std::string text_of(const Date& date);

}  // namespace cambium::io::cf
