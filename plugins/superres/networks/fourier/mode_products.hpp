#pragma once
#include <array>
#include <cstddef>

namespace cambium::superres {

/// Complex matrices of a Fourier layer: for each retained mode one (width, width), (in, out), all real parts before all
/// imaginary ones.
template <class T>
struct ModeMatrices {
  std::size_t modes;
  int width;
  const T* weights;
};

/// Real and imaginary parts of (modes, width).
template <class T>
struct ModeParts {
  T *real, *imaginary;
};

/// Sum of n values in independent lanes that vectorise, always in the same order.
template <class T>
T lane_sum(const T* x, std::size_t n);

/// out[m][o] = sum_i w[m][i][o] in[m][i].
template <class T>
void multiply_modes(const ModeMatrices<T>& w, const T* real, const T* imaginary, T* out_real, T* out_imaginary);

/// by_in[m][i] = sum_o conj(w[m][i][o]) by_out[m][o], and adds conj(in[m][i]) by_out[m][o] to gradient[m][i][o], in the
/// layout of the weights. Derivatives with respect to real and imaginary part are the parts of a complex value.
template <class T>
void multiply_modes_backward(const ModeMatrices<T>& w, const ModeParts<const T>& in, const ModeParts<const T>& by_out,
                             const ModeParts<T>& by_in, T* gradient);

}  // namespace cambium::superres
