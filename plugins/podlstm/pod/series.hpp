#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/cf/time_unit.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/comm.hpp"
#include "plugins/podlstm/pod/dense.hpp"

namespace cambium::podlstm {

/// Arrays with the coefficients over time: a single one (the file of the stage `pod`), or one each for training and
/// test years.
struct SeriesParams {
  std::string file, coefficients = "coefficients", train, test, time = "time";
  std::optional<std::int64_t> training;
  double cells = 0.0;
  static void describe(deck::Describe<SeriesParams>& d);
};

/// A matrix as an array of a file.
void write_matrix(io::Group& group, const std::string& name, const Matrix& a);
Matrix read_matrix(const io::Group& group, const std::string& name);

/// A section of the coefficients: one row per time, with its day.
struct Stretch {
  Matrix a;  ///< (times, modes)
  std::vector<double> days;
  std::int64_t times() const { return a.rows; }
};

struct Series {
  Stretch train, test;           ///< windows do not extend from one into the other
  std::string unit;              ///< of the coefficients
  io::cf::TimeUnit time_unit;    ///< of the file; days are relative to its date
  double weight = 0.0;           ///< sum of area weights over cells; 0 if unknown
  std::vector<double> left_out;  ///< of each test time: weighted sum of squares of the truncation error; may be empty
  std::int64_t modes() const { return train.a.cols; }
  double spacing() const;  ///< median number of days between two times; 0 for a single time
  /// Mean length of a step in days, without gaps; of calendar months, quarters and years that of the calendar.
  double sample_days() const;
  /// The last `n` times of training and test years together.
  Stretch last(std::int64_t n) const;
  /// Days of the next `n` times: by calendar months, quarters or years if the last ones are, else by spacing().
  std::vector<double> next_days(std::int64_t n) const;
};

/// Collective: rank 0 reads and broadcasts. InputError: missing arrays, NaN, times that do not increase.
Series read_series(const SeriesParams& params, const Comm& comm);

/// Warning if a cycle of `period` days has less than two times of the series; else empty.
std::string coarse_times(const Series& series, double period);
/// Warning if an interval between neighbouring times is more than one and a half times the usual one or less than two
/// thirds of it, or if the usual ones of training and test years differ as much; else empty.
std::string uneven_times(const Series& series);

}  // namespace cambium::podlstm
