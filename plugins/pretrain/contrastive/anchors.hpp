#pragma once
#include <cstddef>
#include <span>

#include "plugins/pretrain/contrastive/exponent.hpp"

namespace cambium::train {

/// Sums of a sample (the anchor) over all others: over j other than `self` of e^(d_j - shift) and of that times d_j,
/// with d_j = (s_j - s_self) / temperature and shift = max(0, max d_j). For `self` only, the sums are 0.
struct AnchorSums {
  double shift = 0.0, sum = 0.0, weighted = 0.0;
};

// T (double or float) is the type of the similarities and of the exponentials; sums are accumulated in double.

/// `similarities`: of the anchor with all samples, absent<T> at itself; `own`: with its positive.
template <class T>
AnchorSums anchor_sums(std::span<const T> similarities, double own, double temperature);

/// out[j] += scale e^((s_j - own) / temperature - weight) for all j: the anchor's derivatives by its similarities.
template <class T>
void add_anchor(std::span<const T> similarities, double own, double temperature, double weight, double scale,
                std::span<T> out);

/// The same with each j as an anchor, for which this sample is one of the others.
template <class T>
void add_seen(std::span<const T> similarities, const Exponents<T>& anchors, std::span<T> out);

/// Sums over columns of consecutive rows, each column an anchor; exponents relative to its largest d or 0.
template <class T>
class ColumnSums {
 public:
  /// For each column.
  ColumnSums(std::span<const double> own, std::span<const double> shift, std::span<const double> temperature);
  void add(std::span<const T> row);
  AnchorSums at(std::size_t column);

 private:
  void flush();
  static constexpr int rows_at_once = 64;  ///< summed in the precision T
  Exponents<T> exponents_;
  std::vector<double> shift_, sum_, weighted_;
  std::vector<T> part_, weighted_part_;
  int rows_ = 0;
};

}  // namespace cambium::train
