#include "core/train/networks/attention/feature_map.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/counts.hpp"
#include "core/base/recorder.hpp"
#include "core/numerics/gemm.hpp"
#include "core/train/networks/attention/exponentials.hpp"

namespace cambium::train {

template <class T>
void EluFeatures<T>::map(const T* x, int stride, int rows, Reference, T* phi, T* reference) {
  const KernelRegion region("features", WorkKind::transcendental);
  std::fill(reference, reference + rows, T(0));
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < width_; ++k)
      phi[at(row) * at(width_) + at(k)] = std::min(x[at(row) * at(stride) + at(k)], T(0));
  exponentials(phi, static_cast<std::int64_t>(rows) * width_, T(0));
  for (int row = 0; row < rows; ++row, x += stride, phi += width_)
    for (int k = 0; k < width_; ++k) phi[k] += std::max(x[k], T(0));
}

template <class T>
void EluFeatures<T>::map_backward(const T* x, int stride, int rows, const T* phi, T* by_phi, T* by_x, int by_stride) {
  const KernelRegion region("slope of features", WorkKind::elementwise);
  for (int row = 0; row < rows; ++row, x += stride, phi += width_, by_phi += width_, by_x += by_stride)
    for (int k = 0; k < width_; ++k) by_x[k] += x[k] > T(0) ? by_phi[k] : by_phi[k] * phi[k];
}

template <class T>
PositiveFeatures<T>::PositiveFeatures(int width, std::span<const double> features)
    : width_(width), features_(static_cast<int>(std::ssize(features) / width)),
      shrink_(static_cast<T>(std::pow(static_cast<double>(width), -0.25))),
      directions_(features.begin(), features.end()) {}

template <class T>
void PositiveFeatures<T>::map(const T* x, int stride, int rows, Reference kind, T* phi, T* reference) {
  const int m = features_;
  host_gemm<T>(false, true, rows, m, width_, shrink_, x, stride, directions_.data(), width_, T(0), phi, m);
  const KernelRegion region("features", WorkKind::transcendental);
  for (int row = 0; row < rows; ++row) {
    const T* y = x + at(row) * at(stride);
    T* e = phi + at(row) * at(m);
    T square = T(0);
    for (int k = 0; k < width_; ++k) square += y[k] * y[k];
    const T half = T(0.5) * square * shrink_ * shrink_;
    for (int k = 0; k < m; ++k) e[k] -= half;
    reference[row] = *std::max_element(e, e + m);
    if (kind == Reference::before && row > 0) reference[row] = std::max(reference[row], reference[row - 1]);
  }
  if (kind == Reference::all) std::fill(reference, reference + rows, *std::max_element(reference, reference + rows));
  const T root = static_cast<T>(1.0 / std::sqrt(static_cast<double>(m)));
  for (int row = 0; row < rows; ++row) exponentials(phi + at(row) * at(m), m, reference[row]);
  for (std::size_t k = 0; k < at(rows) * at(m); ++k) phi[k] *= root;
}

/// d phi_k / dy = phi_k (w_k - y).
template <class T>
void PositiveFeatures<T>::map_backward(const T* x, int stride, int rows, const T* phi, T* by_phi, T* by_x,
                                       int by_stride) {
  const int m = features_;
  {
    const KernelRegion region("slope of features", WorkKind::reduction);
    for (int row = 0; row < rows; ++row) {
      const T *y = x + at(row) * at(stride), *f = phi + at(row) * at(m);
      T *d = by_phi + at(row) * at(m), *out = by_x + at(row) * at(by_stride), sum = T(0);
      for (int k = 0; k < m; ++k) sum += d[k] *= f[k];
      for (int k = 0; k < width_; ++k) out[k] -= sum * shrink_ * shrink_ * y[k];
    }
  }
  host_gemm<T>(false, false, rows, width_, m, shrink_, by_phi, m, directions_.data(), width_, T(1), by_x, by_stride);
}

template class EluFeatures<double>;
template class EluFeatures<float>;
template class PositiveFeatures<double>;
template class PositiveFeatures<float>;

}  // namespace cambium::train
