#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "core/parallel/comm.hpp"

namespace cambium {

/// Sum of doubles that is rounded only at the end, so that it depends neither on their order nor on the ranks that hold
/// them: one wide fixed-point number that covers the range of a double, in pieces of 32 bits with room for carries (the
/// small superaccumulator of Neal, "Fast exact summation using small and large superaccumulators", arXiv:1505.05571,
/// 2015).
class ExactSum {
 public:
  /// Up to 2^30 calls on a rank between two calls of value() or over_ranks().
  void add(double x);
  /// The sum rounded once, to nearest (results below 1e-300 may be rounded twice); NaN if a value added was NaN or
  /// infinite.
  double value() const;
  /// Collective: each sum over all ranks; every rank gets the same.
  static void over_ranks(std::span<ExactSum> sums, const Comm& comm);

 private:
  static constexpr int pieces = 68;  ///< piece k counts units of 2^(32 k - 1075)
  void carry();

  std::array<std::int64_t, pieces> piece_{};
  std::int64_t broken_ = 0;  ///< number of values that were not finite
};

/// Collective: the sum of all values of all ranks, exactly rounded.
double exact_sum(std::span<const double> values, const Comm& comm);

}  // namespace cambium
