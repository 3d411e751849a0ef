#pragma once
#include <string>

#include "core/deck/describe.hpp"
#include "plugins/podlstm/forecast/table.hpp"

namespace cambium::podlstm {

/// Keys that forecasts and searches share.
struct ForecastOptions {
  SeriesParams series;
  std::int64_t window = 8, horizon = 8;
  Protocol protocol = Protocol::blocked;
  double validation = 0.2;
  std::optional<std::int64_t> gap;
  int folds = 1;
  double ridge = 0.1, anomaly_ridge = 1.0, period = 365.2425;
  int harmonics = 3, var_order = 4;

  WindowShape shape() const { return {window, horizon}; }
  SplitOptions split(std::uint64_t seed) const { return {protocol, validation, gap, folds, seed}; }
  BaselineOptions baselines() const {
    return {.ridge = ridge,
            .anomaly_ridge = anomaly_ridge,
            .harmonics = harmonics,
            .var_order = var_order,
            .period = period};
  }

  /// P has a member `common` of this type whose keys are declared among its own.
  static void describe(deck::Describe<ForecastOptions>& d);
};

}  // namespace cambium::podlstm
