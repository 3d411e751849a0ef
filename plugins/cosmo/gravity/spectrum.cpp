#include "plugins/cosmo/gravity/spectrum.hpp"

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::cosmo {
namespace {

/// Calls f(index, bin, square of the mode's number, signs of the mode, modes of each axis) for every wave in a bin.
template <class F>
void for_waves(int n, F&& f) {
  const int c = n + 2, half = n / 2;
  const auto signs = [half](int mode) { return mode == 0 || mode == half ? 1 : 2; };
  for (int yc = 0, at = 0; yc < c; ++yc)
    for (int zc = 0; zc < c; ++zc)
      for (int xc = 0; xc < c; ++xc, ++at) {
        const int x = mode_of(xc, n), y = mode_of(yc, n), z = mode_of(zc, n), square = x * x + y * y + z * z;
        const int bin = static_cast<int>(std::sqrt(static_cast<double>(square)) + 0.5);
        if (bin < 1 || bin > half) continue;
        const bool cosines = xc <= half && yc <= half && zc <= half;
        f(at, bin - 1, square, signs(x) * signs(y) * signs(z), cosines, x, y, z);
      }
}

}  // namespace

Bins bins_of(const BoxWaves& waves) {
  Bins out;
  out.modes.assign(waves.cells() / 2, 0.0);
  for_waves(waves.cells(), [&](int, int bin, int, int signs, bool cosines, int, int, int) {
    if (cosines) out.modes[bin] += signs;
  });
  out.k = mean_over_modes(waves, [](double k) { return k; });
  return out;
}

std::vector<double> mean_over_modes(const BoxWaves& waves, const std::function<double(double)>& f) {
  const int half = waves.cells() / 2;
  std::vector<double> of_square(static_cast<std::size_t>(half + 1) * (half + 1)), sum(half, 0.0), modes(half, 0.0);
  for (std::size_t s = 0; s < of_square.size(); ++s)
    of_square[s] = f(2.0 * constants::pi / waves.box() * std::sqrt(static_cast<double>(s)));
  for_waves(waves.cells(), [&](int, int bin, int square, int signs, bool cosines, int, int, int) {
    if (cosines) {
      sum[bin] += signs * of_square[square];
      modes[bin] += signs;
    }
  });
  for (int b = 0; b < half; ++b) sum[b] /= modes[b];
  return sum;
}

std::vector<double> cross_power(const BoxWaves& waves, const View<const double*>& a, const View<const double*>& b,
                                std::optional<Clouds> clouds) {
  const int n = waves.cells(), half = n / 2;
  const auto left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  const auto right = a.data() == b.data() ? left : Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  std::vector<double> shape(half + 1, 1.0), sum(half, 0.0), modes(half, 0.0);
  for (int m = 1; clouds && m <= half; ++m) {
    const double s = cloud_shape(*clouds, constants::pi * m / n);
    shape[m] = s * s;
  }
  for_waves(n, [&](int at, int bin, int, int signs, bool cosines, int x, int y, int z) {
    sum[bin] += signs * left(at) * right(at) / (shape[x] * shape[y] * shape[z]);
    if (cosines) modes[bin] += signs;
  });
  const double cells = static_cast<double>(n) * n * n, scale = std::pow(waves.box(), 3) / (cells * cells);
  for (int bin = 0; bin < half; ++bin) sum[bin] *= scale / modes[bin];
  return sum;
}

}  // namespace cambium::cosmo
