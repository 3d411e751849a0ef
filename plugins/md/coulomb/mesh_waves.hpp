#pragma once
#include <array>
#include <cstdint>

#include "core/numerics/real_fft.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::md {

/// Fourier transform of a periodic mesh of real values. Every axis is transformed as real rows: an axis of n points
/// becomes n + 2 columns, the cosines of modes 0 .. n/2 and then the negative sines, so that a wave is a product of
/// three of them.
///
/// Layout: `values` index (x ny + y) nz + z; `waves` index (y (nz + 2) + z) (nx + 2) + x.
class MeshWaves {
 public:
  /// Points along the three axes, even, without prime factors above 61: InputError as RealFft.
  explicit MeshWaves(const std::array<int, 3>& points);

  const std::array<int, 3>& points() const { return n_; }
  std::int64_t values() const { return std::int64_t{n_[0]} * n_[1] * n_[2]; }
  std::int64_t waves() const { return std::int64_t{n_[0] + 2} * (n_[1] + 2) * (n_[2] + 2); }

  /// F_k = sum_x f_x exp(-i k x), as cosines and sines.
  void forward(const View<const double*>& values, const View<double*>& waves) const;
  /// f_x = sum_k F_k exp(i k x) / (nx ny nz).
  void backward(const View<const double*>& waves, const View<double*>& values) const;

 private:
  std::array<int, 3> n_;
  RealFft x_, y_, z_;
  View<double*> work_[2];
};

}  // namespace cambium::md
