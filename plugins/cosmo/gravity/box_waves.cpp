#include "plugins/cosmo/gravity/box_waves.hpp"

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::cosmo {
namespace {

using Rows = View<const double**>;

/// Influence function of the clouds for each mode 0 .. n/2, along one axis.
View<double*> influence(int n, std::optional<Clouds> clouds) {
  View<double*> out("influence", n / 2 + 1);
  const auto host = Kokkos::create_mirror_view(out);
  for (int m = 0; m <= n / 2; ++m) {
    const double x = constants::pi * m / n, s = std::sin(x), square = s * s;
    const bool cic = clouds == Clouds::cloud_in_cell;
    const double alias = cic ? 1.0 - 2.0 / 3.0 * square : 1.0 - square + 2.0 / 15.0 * square * square;
    const double shape = clouds ? cloud_shape(*clouds, x) / alias : 1.0;
    host(m) = shape * shape;
  }
  Kokkos::deep_copy(out, host);
  return out;
}

void scale_by_laplacian(const View<double*>& waves, int n, double factor, const View<double*>& shape) {
  const int c = n + 2;
  Kokkos::parallel_for(
      "waves: inverse laplacian", Range(0, c * c * c), KOKKOS_LAMBDA(int at) {
        const int x = mode_of(at % c, n), z = mode_of(at / c % c, n), y = mode_of(at / c / c, n);
        const double square = static_cast<double>(x * x + y * y + z * z);
        waves(at) = square > 0.0 ? -factor / square * (shape(x) * shape(y) * shape(z)) * waves(at) : 0.0;
      });
}

/// Times i times a function of the mode along one axis.
void differentiate(const View<const double*>& from, int n, int stride, const View<double*>& factor,
                   const View<double*>& to) {
  const int c = n + 2, half = n / 2, shift = half + 1;
  Kokkos::parallel_for(
      "waves: derivative", Range(0, c * c * c), KOKKOS_LAMBDA(int at) {
        const int column = at / stride % c;
        const double k = factor(mode_of(column, n));
        to(at) = column <= half ? -k * from(at + shift * stride) : k * from(at - shift * stride);
      });
}

/// k of each mode, or what differences make of it.
View<double*> wave_numbers(int n, double box, bool differences) {
  View<double*> out("wave numbers", n / 2 + 1);
  const auto host = Kokkos::create_mirror_view(out);
  for (int m = 0; m < n / 2; ++m) {
    const double x = 2.0 * constants::pi * m / n;
    host(m) = (differences ? (8.0 * std::sin(x) - std::sin(2.0 * x)) / 6.0 : x) * n / box;
  }
  host(n / 2) = 0.0;
  Kokkos::deep_copy(out, host);
  return out;
}

void multiply(const View<double*>& waves, int n, const View<double*>& factor) {
  const int c = n + 2;
  Kokkos::parallel_for(
      "waves: filter", Range(0, c * c * c), KOKKOS_LAMBDA(int at) {
        const int x = mode_of(at % c, n), z = mode_of(at / c % c, n), y = mode_of(at / c / c, n);
        waves(at) *= factor(x * x + y * y + z * z);
      });
}

void swap_axes(const double* from, double* to, int rows, int columns) {
  constexpr int block = 16;  // full cache lines are read and written
  const int across = (columns + block - 1) / block, down = (rows + block - 1) / block;
  Kokkos::parallel_for(
      "waves: transpose", Range(0, across * down), KOKKOS_LAMBDA(int tile) {
        const int r0 = tile / across * block, c0 = tile % across * block;
        const int r1 = r0 + block < rows ? r0 + block : rows, c1 = c0 + block < columns ? c0 + block : columns;
        for (int c = c0; c < c1; ++c)
          for (int r = r0; r < r1; ++r)
            to[static_cast<std::int64_t>(c) * rows + r] = from[static_cast<std::int64_t>(r) * columns + c];
      });
}

}  // namespace

BoxWaves::BoxWaves(int n, double box) : n_(n), box_(box), fft_(n) {
  for (auto& work : work_) work = View<double*>("waves: work", waves());
}

void BoxWaves::transpose(const double* from, double* to, std::int64_t rows, std::int64_t columns) const {
  swap_axes(from, to, static_cast<int>(rows), static_cast<int>(columns));
}

void BoxWaves::forward(const View<const double*>& values, const View<double*>& waves) const {
  const int n = n_, c = columns(), im = n / 2 + 1;
  double *const a = work_[0].data(), *const b = work_[1].data();
  fft_.forward(Rows(values.data(), n * n, n), 0, View<double**>(a, n * n, c), im, n * n);
  transpose(a, b, n * n, c);
  fft_.forward(Rows(b, c * n, n), 0, View<double**>(a, c * n, c), im, c * n);
  transpose(a, b, c * n, c);
  fft_.forward(Rows(b, c * c, n), 0, View<double**>(waves.data(), c * c, c), im, c * c);
}

void BoxWaves::backward(const View<const double*>& waves, const View<double*>& values) const {
  const int n = n_, c = columns(), im = n / 2 + 1;
  double *const a = work_[0].data(), *const b = work_[1].data();
  fft_.backward(Rows(waves.data(), c * c, c), im, View<double**>(a, c * c, n), 0, c * c);
  transpose(a, b, c, c * n);
  fft_.backward(Rows(b, c * n, c), im, View<double**>(a, c * n, n), 0, c * n);
  transpose(a, b, c, n * n);
  fft_.backward(Rows(b, n * n, c), im, View<double**>(values.data(), n * n, n), 0, n * n);
}

static int stride_of(int axis, int c) { return axis == 0 ? 1 : axis == 2 ? c : c * c; }

void BoxWaves::derivative(const View<const double*>& from, int axis, const View<double*>& to) const {
  differentiate(from, n_, stride_of(axis, columns()), wave_numbers(n_, box_, false), to);
}

void BoxWaves::difference(const View<const double*>& from, int axis, const View<double*>& to) const {
  differentiate(from, n_, stride_of(axis, columns()), wave_numbers(n_, box_, true), to);
}

void BoxWaves::inverse_laplacian(const View<double*>& waves, double factor, std::optional<Clouds> clouds) const {
  const double unit = 2.0 * constants::pi / box_;
  scale_by_laplacian(waves, n_, factor / (unit * unit), influence(n_, clouds));
}

void BoxWaves::filter(const View<double*>& waves, const std::function<double(double)>& f) const {
  const int half = n_ / 2;
  View<double*> factor("waves: filter", 3 * half * half + 1);
  const auto host = Kokkos::create_mirror_view(factor);
  for (int square = 0; square <= 3 * half * half; ++square)
    host(square) = f(2.0 * constants::pi / box_ * std::sqrt(static_cast<double>(square)));
  Kokkos::deep_copy(factor, host);
  multiply(waves, n_, factor);
}

}  // namespace cambium::cosmo
