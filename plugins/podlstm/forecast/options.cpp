#include "plugins/podlstm/forecast/options.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/cf/units.hpp"

namespace cambium::podlstm {

void ForecastOptions::describe(deck::Describe<ForecastOptions>& d) {
  using O = ForecastOptions;
  d("series", &O::series, "the coefficients over time");
  d("window", &O::window, "number of input time steps of a forecast").at_least(1).def(8);
  d("horizon", &O::horizon, "forecast horizon: number of predicted time steps").at_least(1).def(8);
  d("protocol", &O::protocol,
    "validation protocol: the last windows with a gap before them (blocked), or a random fraction of overlapping "
    "windows (paper), which leaks information")
      .options({{"blocked", Protocol::blocked}, {"paper", Protocol::paper}})
      .def(Protocol::blocked);
  d("validation", &O::validation, "fraction of the training windows used for validation")
      .greater_than(0.0)
      .less_than(1.0)
      .def(0.2);
  d("gap", &O::gap, "windows left out before the validation block; window + horizon - 1 when absent").at_least(0);
  d("folds", &O::folds,
    "blocked: number of folds of contiguous windows for cross-validation with a gap on either side; 1 for the last "
    "block only")
      .range(1, 50)
      .def(1);
  d("ridge", &O::ridge, "penalty of ridge regression of min-max scaled windows").positive().def(0.1);
  d("anomaly_ridge", &O::anomaly_ridge, "penalty of ridge regression of the residual of the harmonics")
      .positive()
      .def(1.0);
  d("harmonics", &O::harmonics, "harmonics of the year").at_least(1).def(3);
  d("period", &O::period,
    "length of the year, in days or with a unit; twelve samples of a monthly series are a year of its calendar; where "
    "left out, that year (365.2425, 365, 366 or 360 days)")
      .example("12 samples")
      .def("");
  d("var_order", &O::var_order, "times back in the vector autoregression").at_least(1).def(4);
  d("lim", &O::lim, "linear inverse model (LIM); its lag and ridge are chosen by validation");
}

void ForecastOptions::Lim::describe(deck::Describe<Lim>& d) {
  d("lags", &Lim::lags, "lags tau_0 from which the LIM may be estimated, in times of the series")
      .at_least(1)
      .def({1, 2, 4});
  d("ridges", &Lim::ridges,
    "penalties of the coupling between modes, in variances of a mode; 0: the LIM of the field; large ones reduce it to "
    "damped persistence of each mode")
      .non_negative()
      .def({0.0, 0.03, 0.1, 0.3, 1.0, 3.0});
}

double ForecastOptions::period_days(const Series& series) const {
  const auto calendar = series.time_unit.calendar;
  if (period.empty()) return io::cf::days_per_year(calendar);
  const auto text = trim(period);
  const auto end = text.find_first_not_of("0123456789.eE+-");
  const auto number = parse_number(text.substr(0, end));
  const std::string unit(end == std::string_view::npos ? "" : trim(text.substr(end)));
  const double sample = series.sample_days();
  double days = number.value_or(0.0);
  if (unit == "samples" || unit == "sample")
    days *= sample;
  else if (unit == "years" || unit == "year" || unit == "months" || unit == "month")
    days *= io::cf::days_per_year(calendar) / (unit.starts_with("month") ? 12.0 : 1.0);
  else if (!unit.empty())
    days *= io::cf::seconds_of(unit).value_or(0.0) / 86400.0;
  if (!(days > 0.0))
    throw KeyError("forecast.period.unit", "period",
                   fmt::format("period: '{}' is no length of time; give days or a unit, such as '365.2425 days', '12 "
                               "samples' or '1 year'",
                               period));
  if (days < 2.0 * sample * (1.0 - 1e-9))
    throw KeyError(
        "forecast.period.range", "period",
        fmt::format("period: '{}' is {} days, but the series has a time every {} days, and a cycle takes two at least; "
                    "give its unit, such as '365.2425 days' or '12 samples'",
                    period, number_text(days), number_text(sample)));
  return days;
}

}  // namespace cambium::podlstm
