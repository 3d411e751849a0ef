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

/// The table of one embedding network: `fine` over the inputs from the cut-off to the smallest distance expected,
/// `coarse` for close encounters beyond. Both are empty for a network that no pair uses.
struct NetworkTable {
  TablePart fine, coarse;
  bool empty() const { return fine.count == 0; }
};

/// Interpolates a network on [from, to] so finely that neither a channel nor its derivative is off by more than
/// `tolerance` where the error is measured; InputError naming `source` when that takes too many intervals.
TablePart tabulate(const Network& net, double from, double to, double tolerance, const std::string& source);

/// Measures the errors against the network in the arithmetic of T: where a quintic Hermite interpolant errs most
/// (t = 1/2 for the value, (1 -+ 1/sqrt 5)/2 for the slope), and at as many random points.
template <class T>
void measure(const Network& net, TablePart& part);

/// One interval that continues the end of `part` as a line.
TablePart straight_end(const TablePart& part);

}  // namespace cambium::deepmd
