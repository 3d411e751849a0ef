#pragma once
#include <array>
#include <span>
#include <vector>

#include "core/numerics/real_fft.hpp"

namespace cambium::superres {

/// Continuation of a field beyond the ends of an axis, which makes it periodic: none if it is periodic itself; zeros;
/// its mirror image, whose modes are cosines, half a point beyond both ends (cells) or about the end points (nodes).
enum class Continuation { periodic, zeros, mirror, mirror_nodes };

/// A plane of points and its retained Fourier modes: wave numbers -modes[0]..modes[0]-1 along x and 0..modes[1]-1 along
/// z, whose negative ones are conjugates.
struct SpectralGrid {
  std::array<int, 2> points{}, modes{};  ///< x, z
  std::array<Continuation, 2> ends{};
  double padding = 0.25;  ///< zeros after the points, as a fraction of the number of points

  /// Points of the period along an axis: even, and of a length supported by core/numerics.
  int period(int axis) const;
  /// Point whose value continues the field at index `place`, which may exceed either end by less than the number of
  /// points; -1: zero.
  int point_at(int axis, int place) const;
  int kept() const { return 2 * modes[0] * modes[1]; }
  int nodes() const { return points[0] * points[1]; }
};

/// InputError naming 'modes', or the axis, if the transform is not possible.
void require_transformable(const SpectralGrid& grid);

/// Transforms real fields (channels, x, z) to their retained modes and back, by the real transforms of core/numerics
/// along z and then x, in float64. One thread per call.
class SpectralTransform {
 public:
  explicit SpectralTransform(const SpectralGrid& grid);
  const SpectralGrid& grid() const { return grid_; }

  /// Continued field, or zeros instead of the continuation: the transpose of the restriction to the points.
  enum class Beyond { as_ends, zeros };

  /// sum over the period of field exp(-2 pi i (kx x / Lx + kz z / Lz)): real and imaginary parts, (modes along x, along
  /// z, channels) each.
  template <class T>
  void forward(const T* fields, int channels, Beyond beyond, std::span<T> real, std::span<T> imaginary);
  /// Inverse over the period, divided by its number of points, with zeros for other modes and without the imaginary
  /// part of kz = 0; restricted to the points (zeros), or folded back onto them (as_ends): the transpose of the
  /// continuation.
  template <class T>
  void backward(std::span<const T> real, std::span<const T> imaginary, int channels, Beyond beyond, T* fields);

 private:
  /// Index of the mirror image of a point in the period; -1 if it has none.
  int image(int axis, Beyond beyond, int point) const;
  void make_room(int channels);
  void along_x_forward(int channels, Beyond beyond);
  void along_x_backward(int channels, Beyond beyond);

  /// Rows of values and their modes: real parts, then imaginary parts.
  struct Rows {
    View<double**> values, spectrum;
    HostView<double**> host_values, host_spectrum;
    void make(int rows, int length, int modes);
  };

  SpectralGrid grid_;
  RealFft x_, z_;
  int channels_ = 0;
  Rows of_z_, of_x_;  ///< (channels, x) rows along z; (channels, modes along z, two parts) rows along x
};

}  // namespace cambium::superres
