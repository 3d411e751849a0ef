#include "core/train/optimizers/bounded_gradient.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/parallel/host_threads.hpp"

namespace cambium::train {

namespace {

constexpr std::int64_t enough = 16384;  // elements per thread
constexpr int lanes = 8, block = 256;

/// An element scaled and clipped by value, in the optimizer's arithmetic type.
template <class T>
Stepped<T> bounded(T value, Stepped<T> factor, Stepped<T> bound) {
  const auto x = static_cast<Stepped<T>>(value) * factor;
  return std::clamp(x, -bound, bound);
}

/// The larger of two magnitudes; NaN is larger than any, like its bits.
double larger(double a, double b) { return std::bit_cast<std::uint64_t>(a) > std::bit_cast<std::uint64_t>(b) ? a : b; }

/// Adds the parts of `block` squares on each grid and keeps the remainders. Lanes only enable vectorisation: the sums
/// are exact.
void add_pieces(double* squares, const std::array<double, 3>& grids, double (&sums)[3][lanes]) {
  for (std::size_t piece = 0; piece < 3; ++piece) {
    const double grid = grids[piece];
    double own[lanes] = {};
    for (int k = 0; k < block; k += lanes)
      for (int lane = 0; lane < lanes; ++lane) {
        const double cut = (grid + squares[k + lane]) - grid;
        own[lane] += cut;
        squares[k + lane] -= cut;
      }
    for (int lane = 0; lane < lanes; ++lane) sums[piece][lane] += own[lane];
  }
}

}  // namespace

BoundedGradient::BoundedGradient(double factor, const std::optional<Clip>& clip, std::int64_t parameters)
    : factor_(factor), value_bound_(clip && clip->value ? *clip->value : std::numeric_limits<double>::infinity()),
      norm_bound_(clip ? clip->norm : std::nullopt) {
  // Squares are less than 4 units. With 2^room >= parameters + 2 no sum of parts exceeds the 53 bits of its grid.
  int room = 1;
  while (room < 62 && (std::int64_t{1} << room) < parameters + 2) ++room;
  for (int piece = 0; piece < 3; ++piece) grids_[piece] = std::ldexp(1.0, 2 + room - piece * (53 - room));
}

template <class T>
void BoundedGradient::look(const T* values, std::int64_t n) {
  using R = Stepped<T>;
  using Bits = std::conditional_t<std::is_same_v<R, double>, std::uint64_t, std::uint32_t>;
  const R factor = static_cast<R>(factor_), bound = static_cast<R>(value_bound_);
  in_shares(n, enough, [&](std::int64_t first, std::int64_t last) {
    Bits most = 0;
    for (std::int64_t k = first; k < last; ++k)
      most = std::max(most, static_cast<Bits>(std::bit_cast<Bits>(bounded(values[k], factor, bound)) & ~Bits{0} >> 1));
    const std::lock_guard lock(mutex_);
    largest_ = larger(largest_, static_cast<double>(std::bit_cast<R>(most)));
  });
}

void BoundedGradient::largest_of(const Comm& comm) {
  // MPI_MAX on floating-point values is undefined for NaN; on their bits it is well-defined.
  auto bits = std::bit_cast<std::int64_t>(largest_);
  MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_INT64_T, MPI_MAX, comm.handle());
  largest_ = std::bit_cast<double>(bits);
}

template <class T>
void BoundedGradient::add(const T* values, std::int64_t n) {
  if (!std::isfinite(largest_) || largest_ == 0.0) return;
  using R = Stepped<T>;
  const R factor = static_cast<R>(factor_), bound = static_cast<R>(value_bound_);
  // Scaling by powers of two is exact, and avoids overflow and underflow of squares.
  unit_ = std::ldexp(1.0, -std::max(std::ilogb(largest_), -1000));
  in_shares(n, enough, [&](std::int64_t first, std::int64_t last) {
    double sums[3][lanes] = {}, squares[block];
    for (std::int64_t at = first; at < last; at += block) {
      const auto here = std::min<std::int64_t>(block, last - at);
      for (std::int64_t k = 0; k < here; ++k) {
        const double x = static_cast<double>(bounded(values[at + k], factor, bound)) * unit_;
        squares[k] = x * x;
      }
      std::fill(squares + here, squares + block, 0.0);
      add_pieces(squares, grids_, sums);
    }
    const std::lock_guard lock(mutex_);
    for (std::size_t piece = 0; piece < 3; ++piece)
      for (const double sum : sums[piece]) sums_[piece] += sum;
  });
}

void BoundedGradient::sum_of(const Comm& comm) { comm.sum(sums_); }

double BoundedGradient::norm() {
  if (!norm_bound_) return std::numeric_limits<double>::quiet_NaN();
  double norm = largest_;  // zero, infinite, or NaN
  if (std::isfinite(largest_) && largest_ > 0.0) norm = std::sqrt(sums_[0] + (sums_[1] + sums_[2])) / unit_;
  if (norm > *norm_bound_) shrink_ = *norm_bound_ / norm;
  return norm;
}

template <class T>
void BoundedGradient::take(const T* values, Stepped<T>* out, std::int64_t n) const {
  using R = Stepped<T>;
  const R factor = static_cast<R>(factor_), bound = static_cast<R>(value_bound_), shrink = static_cast<R>(shrink_);
  const bool shrinks = shrink_ != 1.0;
  in_shares(n, enough, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) {
      const R x = bounded(values[k], factor, bound);
      out[k] = shrinks ? x * shrink : x;
    }
  });
}

#define CAMBIUM_BOUNDED(T)                                     \
  template void BoundedGradient::look(const T*, std::int64_t); \
  template void BoundedGradient::add(const T*, std::int64_t);  \
  template void BoundedGradient::take(const T*, Stepped<T>*, std::int64_t) const;
CAMBIUM_BOUNDED(double)
CAMBIUM_BOUNDED(float)
CAMBIUM_BOUNDED(Bf16)
#undef CAMBIUM_BOUNDED

double bound_gradient(FlatBuffer& gradients, double factor, const std::optional<Clip>& clip,
                      std::span<const ParameterGroup> groups) {
  BoundedGradient bounded(factor, clip, gradients.layout().parameters());
  double norm = std::numeric_limits<double>::quiet_NaN();
  with_real(gradients.dtype(), [&]<class T>() {
    const auto values = gradients.values<T>();
    if (bounded.bounds_norm()) {
      for_each_trained(gradients.layout(), groups,
                       [&](std::int64_t first, std::int64_t count) { bounded.look(values.data() + first, count); });
      for_each_trained(gradients.layout(), groups,
                       [&](std::int64_t first, std::int64_t count) { bounded.add(values.data() + first, count); });
      norm = bounded.norm();
    }
    bounded.take(values.data(), values.data(), std::ssize(values));
  });
  return norm;
}

}  // namespace cambium::train
