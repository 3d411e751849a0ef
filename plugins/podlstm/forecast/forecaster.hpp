#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plugins/podlstm/series/windows.hpp"

namespace cambium::podlstm {

/// What a method may learn from: the first `rows` times of a stretch, and the windows among them that it is fitted to.
struct FitData {
  const Stretch& stretch;
  WindowShape shape;
  std::int64_t rows = 0;
  std::vector<std::int64_t> starts;
};

/// A method that forecasts windows: from `past` true rows (and the calendar) to the next `future` rows.
class Forecaster {
 public:
  virtual ~Forecaster() = default;
  virtual std::string name() const = 0;
  virtual void fit(const FitData& data) = 0;
  /// (windows, future * modes), in the series' own unit.
  virtual Matrix predict(const Stretch& stretch, const std::vector<std::int64_t>& starts, const WindowShape& shape) const = 0;
};

/// Least and largest value of each mode over the rows that may be looked at, and scaling to [0, 1].
struct MinMax {
  std::vector<double> low, width;
  static MinMax of(const Matrix& a, std::int64_t rows);
  Matrix apply(const Matrix& a) const;
  void undo(Matrix& windows) const;  ///< rows of several times, modes innermost
};

/// Constant and cosines and sines of the first `order` harmonics of the year: (times, 1 + 2 order).
Matrix calendar(const std::vector<double>& days, int order, double period);

struct BaselineOptions {
  double ridge = 0.1;          ///< added to X^T X of min-max scaled windows
  double anomaly_ridge = 1.0;  ///< the same for anomalies
  int harmonics = 3;           ///< of the year
  int var_order = 4;
  double period = 365.2425;    ///< of the year in the unit of time, d
};

/// Persistence, annual harmonics, ridge regression, vector autoregression, harmonics with ridge regression of the anomalies.
std::vector<std::unique_ptr<Forecaster>> baselines(const BaselineOptions& options);
/// The last of them alone.
std::unique_ptr<Forecaster> harmonic_ridge(const BaselineOptions& options);

}  // namespace cambium::podlstm
