#include "plugins/superres/networks/fourier/spectral_transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::superres {
namespace {

/// Smallest even number of at least `n` without a prime factor above 5.
int short_to_transform(int n) {
  for (int even = n + n % 2;; even += 2) {
    int left = even;
    for (int prime : {2, 3, 5})
      while (left % prime == 0) left /= prime;
    if (left == 1) return even;
  }
}

void to_device(const HostView<double**>& from, const View<double**>& to) { Kokkos::deep_copy(to, from); }
void to_host(const View<double**>& from, const HostView<double**>& to) { Kokkos::deep_copy(to, from); }

}  // namespace

int SpectralGrid::period(int axis) const {
  const int n = points[axis];
  if (ends[axis] == Continuation::periodic) return n;
  if (ends[axis] == Continuation::mirror) return 2 * n;
  if (ends[axis] == Continuation::mirror_nodes) return std::max(2, 2 * (n - 1));
  return short_to_transform(n + static_cast<int>(std::ceil(padding * n)));
}

int SpectralGrid::point_at(int axis, int place) const {
  const int n = points[axis];
  if (place >= 0 && place < n) return place;
  int image = -1;
  if (ends[axis] == Continuation::periodic) image = (place + n) % n;
  if (ends[axis] == Continuation::mirror) image = place < 0 ? -1 - place : 2 * n - 1 - place;
  if (ends[axis] == Continuation::mirror_nodes) image = place < 0 ? -place : 2 * (n - 1) - place;
  return image < n ? image : -1;
}

void require_transformable(const SpectralGrid& grid) {
  constexpr const char* names[2] = {"x", "z"};
  for (int a = 0; a < 2; ++a) {
    const int period = grid.period(a), most = a == 0 ? (period - 1) / 2 : period / 2;
    if (grid.modes[a] > most)
      throw InputError(
          fmt::format("'modes' keeps {} along {}, but {} points there have {} at most; keep fewer, or train on a finer "
                      "grid",
                      grid.modes[a], names[a], grid.points[a], most));
    if (period % 2)
      throw InputError(fmt::format("{} points along a periodic {} cannot be transformed: their number must be even",
                                   grid.points[a], names[a]));
  }
}

void SpectralTransform::Rows::make(int rows, int length, int modes) {
  values = View<double**>("rows", rows, length);
  spectrum = View<double**>("modes of rows", rows, 2 * modes);
  host_values = Kokkos::create_mirror_view(values);
  host_spectrum = Kokkos::create_mirror_view(spectrum);
}

SpectralTransform::SpectralTransform(const SpectralGrid& grid) : grid_(grid), x_(grid.period(0)), z_(grid.period(1)) {
  require_transformable(grid);
}

int SpectralTransform::image(int axis, Beyond beyond, int point) const {
  const Continuation kind = grid_.ends[axis];
  if (beyond == Beyond::zeros || kind == Continuation::periodic || kind == Continuation::zeros) return -1;
  if (kind == Continuation::mirror) return 2 * grid_.points[axis] - 1 - point;
  return point > 0 && point + 1 < grid_.points[axis] ? 2 * (grid_.points[axis] - 1) - point : -1;
}

void SpectralTransform::make_room(int channels) {
  if (channels <= channels_) return;
  channels_ = channels;
  of_z_.make(channels * grid_.points[0], z_.length(), z_.modes());
  of_x_.make(channels * grid_.modes[1] * 2, x_.length(), x_.modes());
}

/// From retained modes along z of every x to all modes along x.
void SpectralTransform::along_x_forward(int channels, Beyond beyond) {
  const int nx = grid_.points[0], mz = grid_.modes[1], length = x_.length();
  const auto& from = of_z_.host_spectrum;
  const auto& to = of_x_.host_values;
  for (int c = 0; c < channels; ++c)
    for (int k = 0; k < mz; ++k)
      for (int part = 0; part < 2; ++part) {
        double* const row = &to((c * mz + k) * 2 + part, 0);
        const int column = part * z_.modes() + k;
        for (int x = 0; x < nx; ++x) row[x] = from(c * nx + x, column);
        std::fill(row + nx, row + length, 0.0);
        for (int x = 0; x < nx; ++x)
          if (const int other = image(0, beyond, x); other >= 0) row[other] = row[x];
      }
  const int rows = channels * mz * 2;
  to_device(of_x_.host_values, of_x_.values);
  x_.forward(of_x_.values, 0, of_x_.spectrum, x_.modes(), rows);
  to_host(of_x_.spectrum, of_x_.host_spectrum);
}

template <class T>
void SpectralTransform::forward(const T* fields, int channels, Beyond beyond, std::span<T> real,
                                std::span<T> imaginary) {
  make_room(channels);
  const int nx = grid_.points[0], nz = grid_.points[1], mx = grid_.modes[0], mz = grid_.modes[1];
  for (int r = 0; r < channels * nx; ++r) {
    double* const row = &of_z_.host_values(r, 0);
    for (int z = 0; z < nz; ++z) row[z] = static_cast<double>(fields[std::int64_t{r} * nz + z]);
    std::fill(row + nz, row + z_.length(), 0.0);
    for (int z = 0; z < nz; ++z)
      if (const int other = image(1, beyond, z); other >= 0) row[other] = row[z];
  }
  to_device(of_z_.host_values, of_z_.values);
  z_.forward(of_z_.values, 0, of_z_.spectrum, z_.modes(), channels * nx);
  to_host(of_z_.spectrum, of_z_.host_spectrum);
  along_x_forward(channels, beyond);
  const int other = x_.modes();
  for (int c = 0; c < channels; ++c)
    for (int k = 0; k < mz; ++k) {
      const double *a = &of_x_.host_spectrum((c * mz + k) * 2, 0), *b = &of_x_.host_spectrum((c * mz + k) * 2 + 1, 0);
      for (int j = -mx; j < mx; ++j) {
        const int n = std::abs(j);
        const double turn = j < 0 ? -1.0 : 1.0;  // the transform of a real row at -n is the conjugate of that at n
        const auto at = static_cast<std::size_t>(((j + mx) * mz + k) * channels + c);
        real[at] = static_cast<T>(a[n] - turn * b[other + n]);
        imaginary[at] = static_cast<T>(turn * a[other + n] + b[n]);
      }
    }
}

/// From all modes along x to retained modes along z of every x.
void SpectralTransform::along_x_backward(int channels, Beyond beyond) {
  const int nx = grid_.points[0], mz = grid_.modes[1];
  to_device(of_x_.host_spectrum, of_x_.spectrum);
  x_.backward(of_x_.spectrum, x_.modes(), of_x_.values, 0, channels * mz * 2);
  to_host(of_x_.values, of_x_.host_values);
  for (int c = 0; c < channels; ++c)
    for (int x = 0; x < nx; ++x) {
      double* const row = &of_z_.host_spectrum(c * nx + x, 0);
      std::fill(row, row + 2 * z_.modes(), 0.0);
      const int other = image(0, beyond, x);
      for (int k = 0; k < mz; ++k)
        for (int part = 0; part < 2; ++part) {
          const double* const column = &of_x_.host_values((c * mz + k) * 2 + part, 0);
          row[part * z_.modes() + k] = column[x] + (other >= 0 ? column[other] : 0.0);
        }
    }
}

template <class T>
void SpectralTransform::backward(std::span<const T> real, std::span<const T> imaginary, int channels, Beyond beyond,
                                 T* fields) {
  make_room(channels);
  const int nx = grid_.points[0], nz = grid_.points[1], mx = grid_.modes[0], mz = grid_.modes[1], other = x_.modes();
  for (int c = 0; c < channels; ++c)
    for (int k = 0; k < mz; ++k) {
      double *a = &of_x_.host_spectrum((c * mz + k) * 2, 0), *b = &of_x_.host_spectrum((c * mz + k) * 2 + 1, 0);
      std::fill(a, a + 2 * other, 0.0);
      std::fill(b, b + 2 * other, 0.0);
      for (int j = -mx; j < mx; ++j) {
        const int n = std::abs(j);
        const double turn = j < 0 ? -1.0 : 1.0, share = j == 0 ? 1.0 : 0.5;  // for a mode and the conjugate at -n
        const auto at = static_cast<std::size_t>(((j + mx) * mz + k) * channels + c);
        const double re = static_cast<double>(real[at]), im = static_cast<double>(imaginary[at]);
        a[n] += share * re;
        a[other + n] += share * turn * im;
        b[n] += share * im;
        b[other + n] -= share * turn * re;
      }
    }
  along_x_backward(channels, beyond);
  to_device(of_z_.host_spectrum, of_z_.spectrum);
  z_.backward(of_z_.spectrum, z_.modes(), of_z_.values, 0, channels * nx);
  to_host(of_z_.values, of_z_.host_values);
  for (int r = 0; r < channels * nx; ++r) {
    const double* const row = &of_z_.host_values(r, 0);
    for (int z = 0; z < nz; ++z) {
      const int other_z = image(1, beyond, z);
      fields[std::int64_t{r} * nz + z] = static_cast<T>(row[z] + (other_z >= 0 ? row[other_z] : 0.0));
    }
  }
}

template void SpectralTransform::forward<double>(const double*, int, Beyond, std::span<double>, std::span<double>);
template void SpectralTransform::forward<float>(const float*, int, Beyond, std::span<float>, std::span<float>);
template void SpectralTransform::backward<double>(std::span<const double>, std::span<const double>, int, Beyond,
                                                  double*);
template void SpectralTransform::backward<float>(std::span<const float>, std::span<const float>, int, Beyond, float*);

}  // namespace cambium::superres
