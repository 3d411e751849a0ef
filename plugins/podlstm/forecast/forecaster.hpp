#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/podlstm/pod/windows.hpp"

namespace cambium::podlstm {

/// Training data of a method: the first `rows` times of a stretch, except a gap, and the windows among them that are
/// fitted.
struct FitData {
  const Stretch& stretch;
  WindowShape shape;
  std::int64_t rows = 0;
  std::vector<std::int64_t> starts;
  std::int64_t hole_first = 0, hole_last = 0;

  FitData(const Stretch& s, const WindowShape& w, std::int64_t first_rows, std::vector<std::int64_t> windows)
      : stretch(s), shape(w), rows(first_rows), starts(std::move(windows)) {}
  FitData(const Stretch& s, const WindowShape& w, const Split& split)
      : stretch(s), shape(w), rows(split.rows), starts(split.fit), hole_first(split.hole_first),
        hole_last(split.hole_last) {}

  std::vector<std::int64_t> times() const;  ///< times available for fitting, ascending
  Stretch seen() const;                     ///< the stretch at these times
};

/// A method that forecasts windows: from `past` rows (and the calendar) to the next `future` rows.
class Forecaster {
 public:
  virtual ~Forecaster() = default;
  virtual std::string name() const = 0;
  virtual void fit(const FitData& data) = 0;
  /// (windows, future * modes), in the series' unit.
  virtual Matrix predict(const Stretch& stretch, const std::vector<std::int64_t>& starts,
                         const WindowShape& shape) const = 0;
};

/// Minimum and maximum of each mode over some rows, and scaling to [0, 1].
struct MinMax {
  std::vector<double> low, width;
  static MinMax of(const Matrix& a);
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
  double period = 365.2425;  ///< of the year in the unit of time, d
  double last_ridge = 0.1;   ///< added to X^T X of the anomalies of the last time; see choose_last_ridge()
};

/// Persistence, annual harmonics, ridge regression, vector autoregression, harmonics with ridge regression of the
/// anomalies, and the same with the last time only.
std::vector<std::unique_ptr<Forecaster>> baselines(const BaselineOptions& options);
/// Harmonics with ridge regression only.
std::unique_ptr<Forecaster> harmonic_ridge(const BaselineOptions& options);
/// Harmonics with ridge regression of the anomalies of the last input time: it has fewer inputs than a window, so its
/// coefficients can be estimated from a short series.
std::unique_ptr<Forecaster> last_time_ridge(const BaselineOptions& options);
/// Writes to a group of a file, and reads from it.
void write_harmonic_ridge(const Forecaster& fitted, io::Group& group);
std::unique_ptr<Forecaster> read_harmonic_ridge(const io::Group& group);

}  // namespace cambium::podlstm
