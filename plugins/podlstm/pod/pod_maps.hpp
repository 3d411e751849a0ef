#pragma once
#include <string>
#include <vector>

#include "core/io/cf/time_unit.hpp"
#include "plugins/podlstm/pod/dense.hpp"

namespace cambium::podlstm {

/// Mean and modes from a file of the stage `pod`, to reconstruct fields from coefficients; cells without a value are
/// NaN.
struct PodMaps {
  struct Axis {
    std::string name, unit, standard_name;
    std::vector<double> values;
  };
  std::string array, unit;  ///< of the field; the name without groups
  std::vector<Axis> axes;
  std::vector<double> mean, residual_rms;  ///< (cells)
  Matrix modes;                            ///< (modes, cells)
  std::vector<double> norm;                ///< (cells) factor of the anomalies, if they were standardised; else empty
  Matrix year;                             ///< (1 + 2 harmonics, cells) of the subtracted climatology; else empty
  double period = 0.0;                     ///< of its year, d
  std::vector<double> trend;               ///< (cells), unit per day; empty if no trend was subtracted
  double trend_from = 0.0;                 ///< day at which the trend is zero
  std::int64_t cells() const { return std::ssize(mean); }

  /// For coefficients of `modes` modes. InputError if the file has no modes on a grid, or another number of them.
  static PodMaps read(const std::string& path, std::int64_t modes);
  /// InputError if arrays do not match the axes.
  void require_whole(const std::string& path) const;
  /// True if a file has such maps.
  static bool in(const std::string& path);
  /// Background field on a day: mean, climatology and trend.
  std::vector<double> background(double day) const;
  /// background(day) + norm * sum of coefficients times modes.
  std::vector<double> field(const double* coefficients, double day) const;
};

/// Mean over a box of latitudes and longitudes, for example Nino-3.4 (5 S to 5 N, 170 W to 120 W), as a linear function
/// of coefficients: cells are weighted by the cosine of latitude, without missing ones.
struct BoxMean {
  std::string name, unit;      ///< the unit is that of the field, also if the coefficients have none (standardised)
  std::vector<double> weight;  ///< (modes) index per coefficient
  double mean = 0.0, trend = 0.0, trend_from = 0.0, period = 1.0;
  std::vector<double> year;  ///< (2 harmonics) alternating cosines and sines of the climatology; may be empty
  /// `lat` and `lon` are bounds in degrees; longitudes from west to east, also across Greenwich. InputError if the maps
  /// have no latitude and longitude or those of a rotated grid, or the box has no cell.
  static BoxMean of(const PodMaps& maps, const std::string& name, const std::vector<double>& lat,
                    const std::vector<double>& lon);
  /// Background of the index on a day.
  double background(double day) const;
  double of(const double* coefficients, double day) const;
};

}  // namespace cambium::podlstm
