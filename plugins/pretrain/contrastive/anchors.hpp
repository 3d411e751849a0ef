#pragma once
#include <cstddef>
#include <span>

#include "plugins/pretrain/contrastive/exponent.hpp"

namespace cambium::train {

/// View of a sample (the anchor) on all others: sums over j other than `self` of e^(d_j - shift) and of that times d_j,
/// with d_j = (s_j - s_self) / temperature and the shift the greatest d_j or 0. `self` alone: sums are 0.
struct AnchorSums {
  double shift = 0.0, sum = 0.0, weighted = 0.0;
};

// T is double or float: of the similarities, in whose precision exponentials are taken; sums are kept in double.

/// `similarities`: of the anchor with all samples, absent<T> at itself; `own`: with its partner.
template <class T>
AnchorSums anchor_sums(std::span<const T> similarities, double own, double temperature);

/// out[j] += scale e^((s_j - own) / temperature - weight) for all j: the anchor's derivatives by its similarities.
template <class T>
void add_anchor(std::span<const T> similarities, double own, double temperature, double weight, double scale,
                std::span<T> out);

/// The same where each j is an anchor, and this sample one of those that it sees.
template <class T>
void add_seen(std::span<const T> similarities, const Exponents<T>& anchors, std::span<T> out);

/// Sums of all columns of rows that come one after the other, each column an anchor; exponents of its greatest d or 0.
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
