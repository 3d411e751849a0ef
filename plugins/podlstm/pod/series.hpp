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

/// Where coefficients over time stand: in one array (the file that the stage `pod` writes), or in one array each for
/// training and test years.
struct SeriesParams {
  std::string file, coefficients = "coefficients", train, test, time = "time";
  std::optional<std::int64_t> training;
  double cells = 0.0;
  static void describe(deck::Describe<SeriesParams>& d);
};

/// A matrix as an array of a file.
void write_matrix(io::Group& group, const std::string& name, const Matrix& a);
Matrix read_matrix(const io::Group& group, const std::string& name);

/// A stretch of the coefficients: one row per time, with its day.
struct Stretch {
  Matrix a;  ///< (times, modes)
  std::vector<double> days;
  std::int64_t times() const { return a.rows; }
};

struct Series {
  Stretch train, test;           ///< windows never reach from one into the other
  std::string unit;              ///< of the coefficients
  io::cf::TimeUnit time_unit;    ///< of the file; days count from its date
  double weight = 0.0;           ///< sum of area weights over cells; 0 where unknown
  std::vector<double> left_out;  ///< of each test time: weighted sum of squares that the modes leave out; may be empty
  std::int64_t modes() const { return train.a.cols; }
  double spacing() const;  ///< days between two times, the median; 0 of a single time
  /// The last `n` times, of training and test years together.
  Stretch last(std::int64_t n) const;
  /// Days of the next `n` times: by months of the calendar where the last ones are of that kind, else by spacing().
  std::vector<double> next_days(std::int64_t n) const;
};

/// Collective: rank 0 reads, all have it. InputError: arrays missing, NaN, times that do not increase.
Series read_series(const SeriesParams& params, const Comm& comm);

/// Warning where a cycle of `period` days has less than two times of the series; else empty.
std::string coarse_times(const Series& series, double period);
/// Warning where the time between two neighbours is more than one and a half times the usual one; else empty.
std::string uneven_times(const Series& series);

}  // namespace cambium::podlstm
