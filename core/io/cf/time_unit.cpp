#include "core/io/cf/time_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <regex>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/cf/date_text.hpp"
#include "core/io/cf/units.hpp"

namespace cambium::io::cf {
namespace {

/// Months of a step: 1, 12 or 0.
int months_of(const std::string& unit) {
  const std::string word = in_small_letters(unit);
  if (word == "month" || word == "months" || word == "mon" || word == "mons") return 1;
  if (word == "year" || word == "years" || word == "yr" || word == "yrs") return 12;
  return 0;
}

/// UNIT, the word between, and the rest ("since", "as"); the last two are empty if there is no such word.
std::array<std::string, 3> divided(const std::string& text) {
  const std::string small = in_small_letters(text);
  for (const char* word : {" since ", " after ", " from ", " ref ", "@", " as "})
    if (const auto at = small.find(word); at != std::string::npos)
      return {std::string(trim(text.substr(0, at))), std::string(trim(word)),
              std::string(trim(text.substr(at + std::string(word).size())))};
  return {std::string(trim(text)), "", ""};
}

void set_step(TimeUnit& unit, const std::string& word, const std::string& all, const std::string& where) {
  const int months = months_of(word);
  if (months > 0) {
    unit.seconds = 86400.0 * days_per_year(unit.calendar) * months / 12.0;
    unit.mean_months = true;
    return;
  }
  const auto seconds = seconds_of(word);
  if (!seconds || !(*seconds > 0.0))
    throw InputError(fmt::format(
        "{} are in '{}', expected seconds, minutes, hours, days, weeks, months or years since a date{}", where, all,
        knows_all_units() ? "" : "; this build reads only the usual units: build it with UDUNITS-2 (libudunits2-dev)"));
  unit.seconds = *seconds;
}

void set_packed_date(TimeUnit& unit, const std::string& word, const std::string& format, const std::string& all,
                     const std::string& where) {
  const std::string step = in_small_letters(word);
  const bool days = step == "day" || step == "days";
  unit.packed_months = days ? 0 : months_of(word);
  const std::string expected = days ? "%Y%m%d" : unit.packed_months == 1 ? "%Y%m" : "%Y";
  if ((!days && unit.packed_months == 0) || (format != expected && format != expected + ".%f"))
    throw InputError(
        fmt::format("{} are in '{}', expected 'day as %Y%m%d.%f', 'month as %Y%m.%f' or 'year as %Y.%f'", where, all));
  unit.form = TimeUnit::Form::packed_date;
}

/// Day number and seconds in it of a date written as a number.
std::pair<std::int64_t, double> packed_date(double value, const TimeUnit& unit, const std::string& where) {
  const double whole = std::floor(std::abs(value)), rest = std::abs(value) - whole;
  auto digits = static_cast<std::int64_t>(whole);
  Date date;
  if (unit.packed_months == 0) {
    date.day = static_cast<int>(digits % 100);
    digits /= 100;
  }
  if (unit.packed_months < 12) {
    date.month = static_cast<int>(digits % 100);
    digits /= 100;
  }
  date.year = value < 0.0 ? -digits : digits;
  if (!(std::abs(value) < 1e15) || !is_date(date, unit.calendar))
    throw InputError(
        fmt::format("{}: {} is no date of the calendar {}", where, number_text(value), name_of(unit.calendar)));
  const int days = unit.packed_months == 0   ? 1
                   : unit.packed_months == 1 ? days_in_month(date.year, date.month, unit.calendar)
                                             : days_in_year(date.year, unit.calendar);
  return {day_number(date, unit.calendar), rest * 86400.0 * days};
}

std::string text_since(const char* step, const TimeUnit& unit) {
  const auto whole = static_cast<std::int64_t>(unit.second);
  const double rest = unit.second - static_cast<double>(whole);
  return fmt::format("{} since {} {:02}:{:02}:{:02}{}", step, text_of(date_of(unit.day, unit.calendar)), whole / 3600,
                     whole / 60 % 60, whole % 60, rest > 0.0 ? number_text(rest).substr(1) : "");
}

/// From this day on, two calendars have the same dates.
bool agree(Calendar a, Calendar b, std::int64_t first_day) {
  const bool real = (a == Calendar::standard || a == Calendar::proleptic_gregorian) &&
                    (b == Calendar::standard || b == Calendar::proleptic_gregorian);
  return a == b || (real && first_day >= day_number({1582, 10, 15}, Calendar::proleptic_gregorian));
}

}  // namespace

std::int64_t TimeUnit::day_number_after(double days) const {
  constexpr double rounding = 1e-8;  // of hours and seconds that became days: a midnight stays in its own day
  return day + static_cast<std::int64_t>(std::floor(days + second / 86400.0 + rounding));
}

bool is_unit_of_dates(const std::string& units) {
  const auto [step, word, rest] = divided(units);
  return !word.empty() && !rest.empty() && (months_of(step) > 0 || seconds_of(step).has_value());
}

TimeUnit time_unit_of(const std::string& units, const std::string& calendar, const std::string& where,
                      bool any_length) {
  TimeUnit unit;
  const auto known = calendar_named(calendar);
  if (!known)
    throw InputError(
        fmt::format("{} have the calendar '{}', expected standard, gregorian, proleptic_gregorian, julian, "
                    "noleap (365_day), all_leap (366_day) or 360_day",
                    where, calendar));
  unit.calendar = *known;
  unit.text = std::string(trim(units));
  if (unit.text.empty() || unit.text == "1") return unit;
  const auto [step, word, rest] = divided(unit.text);
  if (word == "as") {
    set_packed_date(unit, step, rest, unit.text, where);
    return unit;
  }
  if (any_length && word.empty() && months_of(step) == 0 && !seconds_of(step)) {
    unit.seconds = 0.0;
    return unit;
  }
  set_step(unit, step, unit.text, where);
  if (word.empty()) return unit;
  const auto moment = moment_of(rest, unit.calendar);
  if (!moment)
    throw InputError(
        fmt::format("{} are in '{}', whose '{}' is no date of the calendar {}; expected one such as 1990-01-15 "
                    "06:00:00: correct the attribute (ncatted)",
                    where, units, rest, name_of(unit.calendar)));
  unit.form = TimeUnit::Form::since;
  unit.day = moment->day;
  unit.second = moment->second;
  return unit;
}

/// "hours since 1800-1-1 00:00:00", which xarray, CDO and netCDF's own tools read.
static bool is_plain(const std::string& text) {
  static const std::regex form(
      "(days|hours|minutes|seconds) since [0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}"
      "( [0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}(\\.[0-9]*)?)?)?");
  return std::regex_match(text, form);
}

TimeUnit plain_unit(const TimeUnit& unit) {
  if (unit.form == TimeUnit::Form::duration || (!unit.mean_months && is_plain(unit.text))) return unit;
  TimeUnit out = unit;
  out.form = TimeUnit::Form::since;
  out.mean_months = false;
  out.packed_months = 0;
  if (unit.form == TimeUnit::Form::packed_date) {
    out.day = day_number({1970, 1, 1}, unit.calendar);
    out.second = 0.0;
  }
  const char* step = "days";
  for (const auto& [name, seconds] : {std::pair{"seconds", 1.0}, {"minutes", 60.0}, {"hours", 3600.0}})
    if (unit.form == TimeUnit::Form::since && !unit.mean_months && unit.seconds == seconds) step = name;
  out.seconds = std::string_view(step) == "days" ? 86400.0 : unit.seconds;
  out.text = text_since(step, out);
  return out;
}

std::vector<double> converted(std::span<const double> times, const TimeUnit& from, const TimeUnit& to,
                              const std::string& where) {
  std::vector<double> out(times.begin(), times.end());
  const bool named = from.seconds == 0.0 || to.seconds == 0.0;
  if (named && from.text == to.text) return out;
  if (!named && !from.has_date() && !to.has_date()) {
    for (double& t : out) t *= from.seconds / to.seconds;
    return out;
  }
  if (named || from.has_date() != to.has_date())
    throw InputError(fmt::format("{} are in '{}', which gives no common date with '{}'; write both since a date", where,
                                 from.text, to.text));
  std::int64_t first = std::min(from.day, to.day);
  for (double& t : out) {
    std::int64_t day = from.day;
    double seconds = from.second;
    if (from.form == TimeUnit::Form::packed_date) {
      std::tie(day, seconds) = packed_date(t, from, where);
      t = 0.0;
      first = std::min(to.day, day);
    }
    // difference in whole days first, so that integers stay integers
    const double offset = (86400.0 * static_cast<double>(day - to.day) + (seconds - to.second)) / to.seconds;
    t = t * (from.seconds == to.seconds ? 1.0 : from.seconds / to.seconds) + offset;
    first = std::min(first, to.day + static_cast<std::int64_t>(std::floor(t * to.days())));
  }
  if (!agree(from.calendar, to.calendar, first))
    throw InputError(fmt::format("{} have the calendar {}, the others {}; convert one of the files (cdo setcalendar)",
                                 where, name_of(from.calendar), name_of(to.calendar)));
  return out;
}

}  // namespace cambium::io::cf
