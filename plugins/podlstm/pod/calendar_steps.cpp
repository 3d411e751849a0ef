#include "plugins/podlstm/pod/calendar_steps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/io/cf/calendar.hpp"

namespace cambium::podlstm {
namespace {

/// Times in float32 are off by several minutes, and none by half an hour.
constexpr double exact = 0.02;
/// Middles of months are often rounded to whole days.
constexpr double rounded = 1.01;

}  // namespace

CalendarSteps::CalendarSteps(const io::cf::TimeUnit& unit, int months, double last) : unit_(unit), months_(months) {
  last_ = month_of(last).number;
}

CalendarSteps::Month CalendarSteps::month(std::int64_t number, int count) const {
  const auto first = [&](std::int64_t n) {
    const std::int64_t year = n >= 0 ? n / 12 : -((11 - n) / 12);
    const io::cf::Date date{year, static_cast<int>(n - 12 * year) + 1, 1};
    return static_cast<double>(io::cf::day_number(date, unit_.calendar) - unit_.day) - unit_.second / 86400.0;
  };
  return {number, first(number), first(number + count)};
}

CalendarSteps::Month CalendarSteps::month_of(double day) const {
  const auto date = io::cf::date_of(unit_.day_number_after(day + 0.5 * exact), unit_.calendar);
  return month(12 * date.year + date.month - 1, 1);
}

double CalendarSteps::at(std::int64_t number) const {
  const Month own = month(number, 1), around = block(number);
  if (place_ == Place::share) return around.begin + value_ * (around.end - around.begin);
  if (place_ == Place::before_end) return own.end - value_;
  // The 31st of a month of 30 days is its last day, at the same hour.
  const double last_day = own.end - own.begin - 1.0 + value_ - std::floor(value_);
  return own.begin + std::min(value_, last_day);
}

bool CalendarSteps::fits(std::span<const double> days, double tolerance) const {
  return std::all_of(days.begin(), days.end(),
                     [&](double day) { return std::abs(at(month_of(day).number) - day) < tolerance; });
}

double CalendarSteps::after(std::int64_t steps) const { return at(last_ + steps * months_); }

/// Late in a month a constant distance from its end may look like a day of its own (06-30, 09-30), so ends come first.
bool CalendarSteps::find_place(std::span<const double> days) {
  const Month last = month_of(days.back()), around = block(last.number);
  const double start = days.back() - last.begin, end = last.end - days.back(),
               share = (days.back() - around.begin) / (around.end - around.begin);
  const auto fit = [&](Place place, double value, double tolerance) {
    place_ = place;
    value_ = value;
    return fits(days, tolerance);
  };
  double latest = start, least = days[1] - days[0], most = least;
  for (std::size_t k = 1; k < days.size(); ++k) {
    latest = std::max(latest, days[k - 1] - month_of(days[k - 1]).begin);
    least = std::min(least, days[k] - days[k - 1]);
    most = std::max(most, days[k] - days[k - 1]);
  }
  if (latest < 28.0 && fit(Place::after_start, start, exact)) return true;
  if (fit(Place::before_end, end, exact)) return true;
  if (latest >= 28.0 && fit(Place::after_start, latest, exact)) return true;
  if (fit(Place::share, share, exact)) return true;
  if (most - least < exact) return false;  // equal steps, of 30 days say, drift through the months
  // One day of the month at varying hours, or middles of months rounded to days.
  const bool one_day = std::all_of(
      days.begin(), days.end(), [&](double day) { return std::floor(day - month_of(day).begin) == std::floor(start); });
  if (latest < 28.0 && one_day && fit(Place::after_start, start, rounded)) return true;
  return fit(Place::share, share, rounded);
}

std::optional<CalendarSteps> CalendarSteps::of(std::span<const double> days, const io::cf::TimeUnit& unit) {
  if (!unit.has_date() || days.size() < 3) return {};
  CalendarSteps out(unit, 1, days.back());
  std::int64_t step = 0;
  for (std::size_t k = 1; k < days.size(); ++k) {
    const auto months = out.month_of(days[k]).number - out.month_of(days[k - 1]).number;
    if (months == 0) return {};
    step = std::gcd(step, months);
  }
  if (12 % step != 0 && step % 12 != 0) return {};
  out.months_ = static_cast<int>(step);
  if (!out.find_place(days)) return {};
  return out;
}

}  // namespace cambium::podlstm
