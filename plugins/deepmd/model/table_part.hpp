#pragma once
#include <string>
#include <vector>

namespace cambium::deepmd {

struct Network;

/// Equal intervals of a table: one quintic in t = (x - start of the interval) / width per interval and channel.
struct TablePart {
  static constexpr int coefficients = 6;
  double from = 0.0, width = 0.0;
  int count = 0, channels = 0;
  std::vector<double> a;                        ///< [interval][channel][power of t]
  double value_error = 0.0, slope_error = 0.0;  ///< largest found by measure()

  double to() const { return from + count * width; }
  double* at(int interval) { return &a[interval * channels * coefficients]; }
  const double* at(int interval) const { return &a[interval * channels * coefficients]; }
};

/// Table of one embedding network: `fine` for inputs from the cut-off to the smallest expected distance, `coarse`
/// beyond it for close encounters. Both are empty for a network that no pair uses.
struct NetworkTable {
  TablePart fine, coarse;
  bool empty() const { return fine.count == 0; }
};

/// Interpolates a network on [from, to] with intervals so small that the error of every channel and its derivative is
/// at most `tolerance` where it is measured; InputError naming `source` when that takes too many intervals.
TablePart tabulate(const Network& net, double from, double to, double tolerance, const std::string& source);

/// Measures the errors against the network in the arithmetic of T: at the error maxima of a quintic Hermite interpolant
/// (t = 1/2 for the value, (1 -+ 1/sqrt 5)/2 for the slope), and at as many random points.
template <class T>
void measure(const Network& net, TablePart& part);

/// One interval that extrapolates the end of `part` linearly.
TablePart straight_end(const TablePart& part);

}  // namespace cambium::deepmd
