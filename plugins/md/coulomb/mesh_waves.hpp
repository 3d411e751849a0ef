#pragma once
#include <array>
#include <cstdint>

#include "core/numerics/real_fft.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::md {

/// Distributed Fourier transform of a periodic mesh of real values: each rank holds a slab of planes of x, and of the
/// waves those of its modes of y. Every axis is transformed as real rows: an axis of n points becomes n + 2 columns,
/// the cosines of modes 0 .. n/2 and then the negative sines, so that a wave is a product of three of them. Each
/// transform sends every value once, to the rank that holds its waves.
///
/// Layout: `values` index (x ny + y) nz + z with x from the first own plane; `waves` index (y (nz + 2) + z) (nx + 2) +
/// x, where y counts the cosines of the own modes and then their sines.
class MeshWaves {
 public:
  /// Points along the three axes, even, without prime factors above 61: otherwise InputError as for RealFft. Ranks in
  /// excess of the planes or modes hold none.
  MeshWaves(const std::array<int, 3>& points, const Comm& comm);

  const std::array<int, 3>& points() const { return n_; }
  std::int64_t all_values() const { return std::int64_t{n_[0]} * n_[1] * n_[2]; }
  int first_plane() const { return plane_[0]; }  ///< of x
  int planes() const { return plane_[1] - plane_[0]; }
  int first_mode() const { return mode_[0]; }  ///< of y
  int modes() const { return mode_[1] - mode_[0]; }
  std::int64_t values() const { return std::int64_t{planes()} * n_[1] * n_[2]; }                ///< own
  std::int64_t waves() const { return std::int64_t{2 * modes()} * (n_[2] + 2) * (n_[0] + 2); }  ///< own
  std::int64_t bytes() const;  ///< of this rank's work arrays

  /// F_k = sum_x f_x exp(-i k x), as cosines and sines. Collective.
  void forward(const View<const double*>& values, const View<double*>& waves, const Comm& comm) const;
  /// f_x = sum_k F_k exp(i k x) / (nx ny nz). Collective.
  void backward(const View<const double*>& waves, const View<double*>& values, const Comm& comm) const;

 private:
  /// Transposes from (column of y, column of z, own plane) to (own column of y, column of z, x); to_planes() is the
  /// inverse.
  void to_waves(const View<double*>& from, const View<double*>& to, const Comm& comm) const;
  void to_planes(const View<double*>& from, const View<double*>& to, const Comm& comm) const;

  std::array<int, 3> n_;
  int plane_[2], mode_[2];
  RealFft x_, y_, z_;
  View<double*> work_[2];
};

}  // namespace cambium::md
