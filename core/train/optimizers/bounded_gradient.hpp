#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>

#include "core/numerics/bfloat16.hpp"
#include "core/parallel/comm.hpp"
#include "core/train/optimizers/clip.hpp"

namespace cambium::train {

/// How an optimizer sees numbers that are kept as T.
template <class T>
using Stepped = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// A summed gradient on its way to the optimizer: times `factor`, within the bounds of a Clip. It may come in parts of
/// any size, order and number of ranks: the same numbers give the same bits, as squares are added without rounding
/// errors that depend on the order (each is cut into three pieces on fixed grids, whose sums are exact; Rump, Ogita and
/// Oishi, "Accurate floating-point summation", SIAM J. Sci. Comput. 31, 189 (2008), algorithm 3.2).
///
/// Where bounds_norm(): look() at every part, largest_of() the ranks, add() every part, sum_of() the ranks, norm().
/// Then take() every part. T is double, float or Bf16.
class BoundedGradient {
 public:
  /// `parameters`: numbers of the whole gradient, without padding (padding holds zeros).
  BoundedGradient(double factor, const std::optional<Clip>& clip, std::int64_t parameters);
  bool bounds_norm() const { return norm_bound_.has_value(); }

  template <class T>
  void look(const T* values, std::int64_t n);
  /// Collective over `comm`, whose ranks have looked at different parts.
  void largest_of(const Comm& comm);
  template <class T>
  void add(const T* values, std::int64_t n);
  /// Collective over `comm`, whose ranks have added different parts.
  void sum_of(const Comm& comm);
  /// For the whole, before it is shrunk; not a number where a number is none. NaN where no norm is bounded.
  double norm();

  /// `out` may be `values`.
  template <class T>
  void take(const T* values, Stepped<T>* out, std::int64_t n) const;

 private:
  double factor_, value_bound_, shrink_ = 1.0;
  std::optional<double> norm_bound_;
  std::array<double, 3> grids_;   ///< numbers whose last bits are the pieces' grids, in units of the largest square
  double largest_ = 0.0;          ///< size of a number as the optimizer sees it; NaN counts as the largest
  double unit_ = 0.0;             ///< a power of two near it, inverted
  std::array<double, 3> sums_{};  ///< of the pieces of squares, in units of 1 / unit_^2
  std::mutex mutex_;
};

/// A whole gradient, in place. Returns the norm that was bounded, as BoundedGradient::norm() does.
double bound_gradient(FlatBuffer& gradients, double factor, const std::optional<Clip>& clip);

}  // namespace cambium::train
