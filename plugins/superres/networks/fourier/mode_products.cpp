#include "plugins/superres/networks/fourier/mode_products.hpp"

#include <algorithm>

#include "core/base/recorder.hpp"

namespace cambium::superres {
namespace {

constexpr std::size_t lanes = 16;

}  // namespace

template <class T>
T lane_sum(const T* x, std::size_t n) {
  T lane[lanes] = {};
  const std::size_t whole = n / lanes * lanes;
  for (std::size_t k = 0; k < whole; k += lanes)
    for (std::size_t j = 0; j < lanes; ++j) lane[j] += x[k + j];
  T sum{};
  for (const T part : lane) sum += part;
  for (std::size_t k = whole; k < n; ++k) sum += x[k];
  return sum;
}

template <class T>
void multiply_modes(const ModeMatrices<T>& w, const T* real, const T* imaginary, T* out_real, T* out_imaginary) {
  const auto width = static_cast<std::size_t>(w.width), square = width * width;
  const double products = static_cast<double>(w.modes * square);
  const KernelRegion region("products of modes", WorkKind::elementwise,
                            {8.0 * products, 2.0 * sizeof(T) * products, 8});
  std::fill_n(out_real, w.modes * width, T(0));
  std::fill_n(out_imaginary, w.modes * width, T(0));
  for (std::size_t m = 0; m < w.modes; ++m) {
    T *const to_re = out_real + m * width, *const to_im = out_imaginary + m * width;
    for (std::size_t i = 0; i < width; ++i) {
      const T re = real[m * width + i], im = imaginary[m * width + i];
      const T *const w_re = w.weights + m * square + i * width, *const w_im = w_re + w.modes * square;
      for (std::size_t o = 0; o < width; ++o) {
        to_re[o] += w_re[o] * re - w_im[o] * im;
        to_im[o] += w_re[o] * im + w_im[o] * re;
      }
    }
  }
}

template <class T>
void multiply_modes_backward(const ModeMatrices<T>& w, const ModeParts<const T>& in, const ModeParts<const T>& by_out,
                             const ModeParts<T>& by_in, T* gradient) {
  const auto width = static_cast<std::size_t>(w.width), square = width * width;
  const double products = static_cast<double>(w.modes * square);
  const KernelRegion region("products of modes, backward", WorkKind::elementwise,
                            {16.0 * products, 6.0 * sizeof(T) * products, 8});
  for (std::size_t m = 0; m < w.modes; ++m) {
    const T *const g_re = by_out.real + m * width, *const g_im = by_out.imaginary + m * width;
    for (std::size_t i = 0; i < width; ++i) {
      const T re = in.real[m * width + i], im = in.imaginary[m * width + i];
      const T *const w_re = w.weights + m * square + i * width, *const w_im = w_re + w.modes * square;
      T *const d_re = gradient + m * square + i * width, *const d_im = d_re + w.modes * square;
      T lane_re[lanes] = {}, lane_im[lanes] = {};
      for (std::size_t first = 0; first < width; first += lanes) {
        const std::size_t count = std::min(lanes, width - first);
        for (std::size_t j = 0, o = first; j < count; ++j, ++o) {
          lane_re[j] += w_re[o] * g_re[o] + w_im[o] * g_im[o];
          lane_im[j] += w_re[o] * g_im[o] - w_im[o] * g_re[o];
          d_re[o] += re * g_re[o] + im * g_im[o];
          d_im[o] += re * g_im[o] - im * g_re[o];
        }
      }
      by_in.real[m * width + i] = lane_sum(lane_re, lanes);
      by_in.imaginary[m * width + i] = lane_sum(lane_im, lanes);
    }
  }
}

#define CAMBIUM_INSTANTIATE(T)                                                                \
  template T lane_sum<T>(const T*, std::size_t);                                              \
  template void multiply_modes<T>(const ModeMatrices<T>&, const T*, const T*, T*, T*);        \
  template void multiply_modes_backward<T>(const ModeMatrices<T>&, const ModeParts<const T>&, \
                                           const ModeParts<const T>&, const ModeParts<T>&, T*);
CAMBIUM_INSTANTIATE(double)
CAMBIUM_INSTANTIATE(float)
#undef CAMBIUM_INSTANTIATE

}  // namespace cambium::superres
