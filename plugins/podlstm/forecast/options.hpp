#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/podlstm/forecast/lim.hpp"

namespace cambium::podlstm {

/// Common keys of forecasts and searches.
struct ForecastOptions {
  SeriesParams series;
  std::int64_t window = 8, horizon = 8;
  Protocol protocol = Protocol::blocked;
  double validation = 0.2;
  std::optional<std::int64_t> gap;
  int folds = 1;
  double ridge = 0.1, anomaly_ridge = 1.0;
  std::string period;
  int harmonics = 3, var_order = 4;
  struct Lim {
    std::vector<std::int64_t> lags = {1, 2, 4};
    std::vector<double> ridges = {0.0, 0.03, 0.1, 0.3, 1.0, 3.0};
    static void describe(deck::Describe<Lim>& d);
  };
  Lim lim;

  WindowShape shape() const { return {window, horizon}; }
  SplitOptions split(std::uint64_t seed) const { return {protocol, validation, gap, folds, seed}; }
  BaselineOptions baselines(const Series& series) const {
    return {.ridge = ridge,
            .anomaly_ridge = anomaly_ridge,
            .harmonics = harmonics,
            .var_order = var_order,
            .period = period_days(series)};
  }
  /// Options of a linear inverse model; lag and ridge are chosen by choose_lim().
  LimOptions inverse_model(const Series& series) const { return {harmonics, period_days(series), 1, 0.0}; }
  /// The key `period` in days of the series; default: the year of its calendar. InputError for an invalid period, and
  /// for one shorter than two samples.
  double period_days(const Series& series) const;

  /// P has a member `common` of this type; its keys are declared among those of P.
  static void describe(deck::Describe<ForecastOptions>& d);
};

}  // namespace cambium::podlstm
