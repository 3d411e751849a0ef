// Series of months, quarters and years continue by the calendar, and their samples make up its year.
#include <cmath>

#include "core/io/cf/calendar.hpp"
#include "plugins/podlstm/forecast/options.hpp"
#include "plugins/podlstm/pod/series.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::podlstm;
using io::cf::Calendar;

namespace {

struct When {
  std::int64_t year;
  int month, day;
  double hour = 0.0;
};

/// Days since 1990-01-01.
double day_of(const When& w, Calendar calendar) {
  const auto day = io::cf::day_number({w.year, w.month, w.day}, calendar) - io::cf::day_number({1990, 1, 1}, calendar);
  return static_cast<double>(day) + w.hour / 24.0;
}

std::vector<double> days_of(const std::vector<When>& all, Calendar calendar) {
  std::vector<double> out;
  for (const auto& when : all) out.push_back(day_of(when, calendar));
  return out;
}

Series series_of(const std::vector<double>& days, Calendar calendar) {
  Series out;
  const auto n = static_cast<std::int64_t>(days.size());
  out.train = {Matrix(n, 1), days};
  out.test.a = Matrix(0, 1);
  out.time_unit.form = io::cf::TimeUnit::Form::since;
  out.time_unit.calendar = calendar;
  out.time_unit.day = io::cf::day_number({1990, 1, 1}, calendar);
  return out;
}

void require_next(const std::vector<When>& past, const std::vector<When>& future,
                  const std::vector<Calendar>& calendars) {
  for (const auto calendar : calendars) {
    INFO(io::cf::name_of(calendar));
    const auto found = series_of(days_of(past, calendar), calendar).next_days(std::ssize(future));
    REQUIRE(found.size() == future.size());
    for (std::size_t k = 0; k < found.size(); ++k) CHECK(found[k] == Approx(day_of(future[k], calendar)).margin(1e-9));
  }
}

/// The first of every month, or of every third or twelfth, from 1990 on.
std::vector<double> starts(int count, int months, Calendar calendar) {
  std::vector<double> out;
  for (int k = 0; k < count; ++k) out.push_back(day_of({1990 + k * months / 12, k * months % 12 + 1, 1}, calendar));
  return out;
}

const std::vector<Calendar> leap{Calendar::standard, Calendar::proleptic_gregorian, Calendar::julian};

}  // namespace

TEST_CASE("ends of months, quarters and years are followed by ends", "[series]") {
  require_next({{2007, 9, 30}, {2007, 10, 31}, {2007, 11, 30}, {2007, 12, 31}},
               {{2008, 1, 31}, {2008, 2, 29}, {2008, 3, 31}}, leap);
  require_next({{2007, 9, 30}, {2007, 10, 31}, {2007, 11, 30}, {2007, 12, 31}},
               {{2008, 1, 31}, {2008, 2, 28}, {2008, 3, 31}}, {Calendar::noleap});
  require_next({{2007, 10, 30}, {2007, 11, 30}, {2007, 12, 30}}, {{2008, 1, 30}, {2008, 2, 30}, {2008, 3, 30}},
               {Calendar::days_360});
  require_next({{2007, 3, 31}, {2007, 6, 30}, {2007, 9, 30}, {2007, 12, 31}},
               {{2008, 3, 31}, {2008, 6, 30}, {2008, 9, 30}, {2008, 12, 31}}, leap);
  require_next({{2005, 12, 31}, {2006, 12, 31}, {2007, 12, 31}}, {{2008, 12, 31}, {2009, 12, 31}}, leap);
  // The 30th of every month, which February does not have.
  require_next({{2007, 1, 30}, {2007, 2, 28}, {2007, 3, 30}, {2007, 4, 30}}, {{2007, 5, 30}, {2007, 6, 30}},
               {Calendar::standard, Calendar::noleap});
}

TEST_CASE("starts of months, quarters and years are followed by starts", "[series]") {
  auto calendars = leap;
  calendars.insert(calendars.end(), {Calendar::noleap, Calendar::days_360});
  require_next({{2007, 10, 1, 6}, {2007, 11, 1, 6}, {2007, 12, 1, 6}},
               {{2008, 1, 1, 6}, {2008, 2, 1, 6}, {2008, 3, 1, 6}, {2008, 4, 1, 6}}, calendars);
  require_next({{2007, 4, 1}, {2007, 7, 1}, {2007, 10, 1}}, {{2008, 1, 1}, {2008, 4, 1}, {2008, 7, 1}, {2008, 10, 1}},
               calendars);
  require_next({{2005, 1, 1}, {2006, 1, 1}, {2007, 1, 1}}, {{2008, 1, 1}, {2009, 1, 1}, {2010, 1, 1}}, calendars);
  require_next({{2007, 10, 15}, {2007, 11, 15}, {2007, 12, 15}}, {{2008, 1, 15}, {2008, 2, 15}, {2008, 3, 15}},
               calendars);
}

TEST_CASE("middles of months, quarters and years are followed by middles", "[series]") {
  const std::vector<When> past{{2006, 9, 16}, {2006, 10, 16, 12}, {2006, 11, 16}, {2006, 12, 16, 12}};
  require_next(past, {{2007, 1, 16, 12}, {2007, 2, 15}, {2007, 3, 16, 12}, {2007, 4, 16}},
               {Calendar::standard, Calendar::proleptic_gregorian, Calendar::noleap});
  require_next({{2007, 9, 16}, {2007, 10, 16, 12}, {2007, 11, 16}, {2007, 12, 16, 12}},
               {{2008, 1, 16, 12}, {2008, 2, 15, 12}, {2008, 3, 16, 12}}, leap);
  require_next({{2007, 10, 16}, {2007, 11, 16}, {2007, 12, 16}}, {{2008, 1, 16}, {2008, 2, 16}, {2008, 3, 16}},
               {Calendar::days_360});
  // Of 90, 91, 92 and 92 days, and of 365.
  require_next({{2007, 2, 15}, {2007, 5, 16, 12}, {2007, 8, 16}, {2007, 11, 16}},
               {{2008, 2, 15, 12}, {2008, 5, 16, 12}, {2008, 8, 16}}, {Calendar::standard});
  require_next({{2005, 7, 2, 12}, {2006, 7, 2, 12}, {2007, 7, 2, 12}}, {{2008, 7, 2, 12}, {2009, 7, 2, 12}},
               {Calendar::noleap});
  // Rounded to days the middle may be a day off, and the month is right.
  const auto rounded =
      series_of(days_of({{2007, 1, 16}, {2007, 2, 14}, {2007, 3, 16}, {2007, 4, 15}, {2007, 5, 16}}, Calendar::noleap),
                Calendar::noleap)
          .next_days(13);
  for (int k = 0; k < 13; ++k) {
    const auto middle = day_of({2007 + (5 + k) / 12, (5 + k) % 12 + 1, 15}, Calendar::noleap);
    CHECK(std::abs(rounded[static_cast<std::size_t>(k)] - middle) <= 1.5);
  }
}

TEST_CASE("a reference date in the middle of a day leaves dates where they are", "[series]") {
  // xarray counts from the first time: "days since 1990-01-16 12:00:00".
  const auto shifted = [](const std::vector<When>& dates, const Calendar calendar) {
    auto out = days_of(dates, calendar);
    for (double& day : out) day -= 15.5;
    return out;
  };
  for (const auto calendar : {Calendar::standard, Calendar::noleap}) {
    auto middles =
        series_of(shifted({{2006, 9, 16}, {2006, 10, 16, 12}, {2006, 11, 16}, {2006, 12, 16, 12}}, calendar), calendar);
    auto starts_at_six = series_of(shifted({{2006, 10, 1, 6}, {2006, 11, 1, 6}, {2006, 12, 1, 6}}, calendar), calendar);
    for (auto* series : {&middles, &starts_at_six}) {
      series->time_unit.day += 15;
      series->time_unit.second = 43200.0;
    }
    const auto next = shifted({{2007, 1, 16, 12}, {2007, 2, 15}, {2007, 3, 16, 12}, {2007, 4, 16}}, calendar),
               later = shifted({{2007, 1, 1, 6}, {2007, 2, 1, 6}, {2007, 3, 1, 6}, {2007, 4, 1, 6}}, calendar);
    for (std::size_t k = 0; k < next.size(); ++k) {
      CHECK(middles.next_days(4)[k] == Approx(next[k]).margin(1e-9));
      CHECK(starts_at_six.next_days(4)[k] == Approx(later[k]).margin(1e-9));
    }
  }
}

TEST_CASE("weeks, equal steps and times without a date continue by their step", "[series]") {
  CHECK(series_of({0, 7, 14, 21}, Calendar::standard).next_days(2) == std::vector<double>{28, 35});
  // Steps of 30 days from the 15th on are in neighbouring months for a while.
  CHECK(series_of({14, 44, 74, 104}, Calendar::standard).next_days(3) == std::vector<double>{134, 164, 194});
  Series undated = series_of({0, 31, 59, 90}, Calendar::noleap);
  undated.time_unit.form = io::cf::TimeUnit::Form::duration;
  CHECK(undated.next_days(1) == std::vector<double>{121});
}

TEST_CASE("twelve monthly samples are a year, so harmonics keep their phase for decades", "[series]") {
  ForecastOptions options;
  for (const auto calendar : {Calendar::standard, Calendar::noleap, Calendar::days_360})
    for (const auto& [months, period] : {std::pair{1, "12 samples"}, {3, "4 samples"}, {12, "2 samples"}}) {
      options.period = period;
      const auto series = series_of(starts(480 / months, months, calendar), calendar);
      const double years = months == 12 ? 2.0 : 1.0;
      CHECK(options.period_days(series) == Approx(years * io::cf::days_per_year(calendar)).epsilon(1e-12));
      CHECK(coarse_times(series, options.period_days(series)).empty());
    }
  options.period = "12 samples";
  const auto days = starts(480, 1, Calendar::standard);
  const double length = options.period_days(series_of(days, Calendar::standard));
  double least = 0.0, most = 0.0;
  for (std::size_t k = 0; k < days.size(); ++k) {
    const double turns = days[k] / length - static_cast<double>(k) / 12.0;  // against cos(2 pi k / 12)
    least = std::min(least, turns);
    most = std::max(most, turns);
  }
  CHECK(most - least < 4.0 / 365.0);  // lengths of months and leap days alone
  // Two samples are the least that a cycle takes, also where the month is shorter than the usual one.
  options.period = "2 samples";
  CHECK(options.period_days(series_of(days, Calendar::standard)) == Approx(365.2425 / 6.0));
}

TEST_CASE("a sample of other series is the mean step without gaps", "[series]") {
  ForecastOptions options;
  options.period = "73 samples";
  std::vector<double> pentads;  // 73 a year, the one with a leap day of six days
  for (int year = 0; year < 8; ++year)
    for (int k = 0; k < 73; ++k) {
      const double leap_days = (year + 1) / 4 + (year % 4 == 2 && k >= 12 ? 1 : 0);
      pentads.push_back(365.0 * year + 5.0 * k + leap_days);
    }
  CHECK(options.period_days(series_of(pentads, Calendar::standard)) == Approx(365.25).epsilon(1e-3));
  options.period = "52 samples";
  CHECK(options.period_days(series_of({0, 7, 14, 49, 56, 63}, Calendar::standard)) == 364.0);
}
