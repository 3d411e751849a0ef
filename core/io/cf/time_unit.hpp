#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/io/cf/calendar.hpp"

namespace cambium::io::cf {

/// Unit of a time axis: "days since 1990-01-01 06:00", with or without a date, or a date packed into one number ("day
/// as %Y%m%d.%f").
struct TimeUnit {
  enum class Form { duration, since, packed_date };
  Form form = Form::duration;
  Calendar calendar = Calendar::standard;
  double seconds = 86400.0;  ///< of one step; months and years are fractions of the calendar's mean year
  bool mean_months = false;  ///< one step is a month or a year
  int packed_months = 0;     ///< of a packed date: unit before the fraction, 0 a day, 1 a month, 12 a year
  std::int64_t day = 0;      ///< of the reference date (day_number), in UTC
  double second = 0.0;       ///< in that day
  std::string text;          ///< text for an output file: "days since 1990-01-01 06:00:00"

  double days() const { return seconds / 86400.0; }
  bool has_date() const { return form != Form::duration; }
  /// Day number of the calendar (day_number) of a time `days` days after the reference date, whose time of day counts.
  std::int64_t day_number_after(double days) const;
};

/// True if a unit counts from a date or is one ("hours after 1990-1-1", "day as %Y%m%d.%f").
bool is_unit_of_dates(const std::string& units);

/// Parses the attributes `units` and `calendar` of a time. All spellings of UDUNITS: units, since/after/from/ref/@,
/// dates 1990-1-1, 19900101, 1990, clocks 6:00, 060000.0, T, zones Z, UTC, +1:30, -0600. InputError with the text found
/// and the expectation, prefixed by `where` ("the times 'time' of 'a.nc'"). With `any_length` a duration may have any
/// unit name ("t_ff"): its seconds are then 0.
TimeUnit time_unit_of(const std::string& units, const std::string& calendar, const std::string& where,
                      bool any_length = false);

/// The same unit if other programs read its form, else days since the same date.
TimeUnit plain_unit(const TimeUnit& unit);

/// Converts times from one unit to another, of one calendar or of two that agree on both dates (standard and proleptic
/// after 1582). InputError, prefixed by `where`, if one unit has no date or the calendars disagree, or a packed date is
/// invalid.
std::vector<double> converted(std::span<const double> times, const TimeUnit& from, const TimeUnit& to,
                              const std::string& where);

}  // namespace cambium::io::cf
