#pragma once
// Kernels on rows of full registers, whose columns beyond the width are zero.
#include "core/base/pack_math.hpp"
#include "plugins/deepmd/training/buffer.hpp"

namespace cambium::deepmd::rows {

/// out[k in + c] += in_row[c] for every copy k.
template <class T>
inline void add_copies(const T* in_row, int in, int copies, T* out) {
  using P = HostPack<T>;
  for (int k = 0; k < copies; ++k)
    for (int c = 0; c < in; c += P::width) (P::load(out + k * in + c) + P::load(in_row + c)).store(out + k * in + c);
}

/// out = [in_row, in_row, ...], zero where there are no copies; `width` columns and the padding are written.
template <class T>
inline void copies_of(const T* in_row, int in, int copies, int width, T* out) {
  using P = HostPack<T>;
  if (copies == 0)
    for (int c = 0; c < width; c += P::width) P(T(0)).store(out + c);
  // In ascending order: a copy writes zeros beyond its end, which the next one overwrites.
  for (int k = 0; k < copies; ++k)
    for (int c = 0; c < in; c += P::width) P::load(in_row + c).store(out + k * in + c);
}

/// out[c] = sum over copies of row[k in + c]: the adjoint of add_copies.
template <class T>
inline void fold_copies(const T* row, int in, int copies, T* out) {
  using P = HostPack<T>;
  for (int c = 0; c < in; c += P::width) {
    P sum = T(0);
    for (int k = 0; k < copies; ++k) sum += P::load(row + k * in + c);
    if (in - c < P::width) sum = keep(P::Mask::first(in - c), sum);
    sum.store(out + c);
  }
}

template <class T>
inline void add_to(const T* from, int n, T* to) {
  for (int c = 0; c < n; ++c) to[c] += from[c];
}

/// a . b over `width` columns and the padding.
template <class T>
inline T dot(const T* a, const T* b, int width) {
  using P = HostPack<T>;
  P s = T(0);
  for (int c = 0; c < width; c += P::width) s = fma(P::load(a + c), P::load(b + c), s);
  return sum(s);
}

}  // namespace cambium::deepmd::rows
