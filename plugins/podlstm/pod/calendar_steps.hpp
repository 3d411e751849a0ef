#pragma once
#include <optional>
#include <span>

#include "core/io/cf/time_unit.hpp"

namespace cambium::podlstm {

/// Times that follow the calendar: one every few months, always at the same place in the month.
class CalendarSteps {
 public:
  /// None for fewer than three times, for times without a date, and for times at which no rule of the calendar fits.
  /// Days count from the unit's date; steps that are missing in between do no harm.
  static std::optional<CalendarSteps> of(std::span<const double> days, const io::cf::TimeUnit& unit);

  int months() const { return months_; }  ///< of a step: 1, 3 or 12; a divisor or a multiple of 12
  /// The day `steps` steps after the last time.
  double after(std::int64_t steps) const;

 private:
  enum class Place { after_start, before_end, share };  ///< days after the month's first, before its end, or a share
  struct Month {
    std::int64_t number = 0;  ///< 12 year + month - 1
    double begin = 0.0, end = 0.0;
  };
  CalendarSteps(const io::cf::TimeUnit& unit, int months, double last);
  Month month(std::int64_t number, int count) const;
  Month month_of(double day) const;
  /// The months that a time stands for if it is their middle: as many as a step has, around its own.
  Month block(std::int64_t number) const { return month(number - months_ / 2, months_); }
  double at(std::int64_t number) const;
  bool find_place(std::span<const double> days);
  bool fits(std::span<const double> days, double tolerance) const;

  io::cf::TimeUnit unit_;
  int months_ = 1;
  std::int64_t last_ = 0;  ///< month of the last time
  Place place_ = Place::after_start;
  double value_ = 0.0;
};

}  // namespace cambium::podlstm
