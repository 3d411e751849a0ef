#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>

#include "core/numerics/bfloat16.hpp"
#include "core/parallel/comm.hpp"
#include "core/train/optimizers/clip.hpp"
#include "core/train/optimizers/groups.hpp"

namespace cambium::train {

/// Arithmetic type of the optimizer for values stored as T.
template <class T>
using Stepped = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Scales a summed gradient by `factor` and clips it, on its way to the optimizer. It may come in parts of any size and
/// order, on any number of ranks: the result is bitwise identical, since squares are added without order-dependent
/// rounding (each is split into three parts on fixed grids, whose sums are exact; Rump, Ogita and Oishi, "Accurate
/// floating-point summation", SIAM J. Sci. Comput. 31, 189 (2008), algorithm 3.2).
///
/// If bounds_norm(): look() at every part, largest_of() the ranks, add() every part, sum_of() the ranks, norm(). Then
/// take() every part. T is double, float or Bf16.
class BoundedGradient {
 public:
  /// `parameters`: elements of the entire gradient, without padding (padding is zero).
  BoundedGradient(double factor, const std::optional<Clip>& clip, std::int64_t parameters);
  bool bounds_norm() const { return norm_bound_.has_value(); }

  template <class T>
  void look(const T* values, std::int64_t n);
  /// Collective over `comm`, whose ranks have passed different parts to look().
  void largest_of(const Comm& comm);
  template <class T>
  void add(const T* values, std::int64_t n);
  /// Collective over `comm`, whose ranks have added different parts.
  void sum_of(const Comm& comm);
  /// Norm of the entire gradient before clipping; NaN if an element is NaN, or if the norm is not bounded.
  double norm();

  /// `out` may be `values`.
  template <class T>
  void take(const T* values, Stepped<T>* out, std::int64_t n) const;

 private:
  double factor_, value_bound_, shrink_ = 1.0;
  std::optional<double> norm_bound_;
  std::array<double, 3> grids_;   ///< their last bits are the grids of the parts, in units of the largest square
  double largest_ = 0.0;          ///< largest magnitude, in the arithmetic type; NaN counts as the largest
  double unit_ = 0.0;             ///< inverse of a power of two close to it
  std::array<double, 3> sums_{};  ///< of the parts of squares, in units of 1 / unit_^2
  std::mutex mutex_;
};

/// Clips an entire gradient in place. Returns the norm before clipping, like BoundedGradient::norm(); parameters that
/// `groups` freeze do not count in it.
double bound_gradient(FlatBuffer& gradients, double factor, const std::optional<Clip>& clip,
                      std::span<const ParameterGroup> groups = {});

}  // namespace cambium::train
