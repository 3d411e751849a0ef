#include "plugins/deepmd/training/descriptor_pass.hpp"

#include <algorithm>

namespace cambium::deepmd {

namespace {

constexpr double radial_scale = 0.2;  // of the descriptor se_e2_r, as in DeePMD-kit

template <class T, int K>
void add_values_k(const DescriptorKernels<T>& s, int rows, const T* c, const T* value, T* a) {
  using P = HostPack<T>;
  for (int m = 0; m < s.channels; m += P::width) {
    P sum[K];
    for (int k = 0; k < K; ++k) sum[k] = P::load(a + k * s.stride + m);
    for (int r = 0; r < rows; ++r) {
      const P g = P::load(value + static_cast<std::int64_t>(r) * s.stride + m);
      for (int k = 0; k < K; ++k) sum[k] = fma(g, P(c[4 * r + k]), sum[k]);
    }
    for (int k = 0; k < K; ++k) sum[k].store(a + k * s.stride + m);
  }
}

template <class T, int K>
void add_changes_k(const DescriptorKernels<T>& s, int rows, const T* c, const T* c_dot, const T* x_dot, const T* value,
                   const T* slope, T* a) {
  using P = HostPack<T>;
  for (int m = 0; m < s.channels; m += P::width) {
    P sum[K];
    for (int k = 0; k < K; ++k) sum[k] = P::load(a + k * s.stride + m);
    for (int r = 0; r < rows; ++r) {
      const P g = P::load(value + static_cast<std::int64_t>(r) * s.stride + m);
      const P g_dot = P::load(slope + static_cast<std::int64_t>(r) * s.stride + m) * P(x_dot[r]);
      for (int k = 0; k < K; ++k) sum[k] = fma(g, P(c_dot[4 * r + k]), fma(g_dot, P(c[4 * r + k]), sum[k]));
    }
    for (int k = 0; k < K; ++k) sum[k].store(a + k * s.stride + m);
  }
}

template <class Q>
auto total_of(Q q) {
  return sum(q);
}  // for functions in which an array is named sum

template <class T, int K>
void row_gradients_k(const DescriptorKernels<T>& s, int rows, const T* c, const T* value, const T* slope, const T* p,
                     T* c_bar, T* x_bar) {
  using P = HostPack<T>;
  for (int r = 0; r < rows; ++r) {
    const T *g = value + static_cast<std::int64_t>(r) * s.stride, *u = slope + static_cast<std::int64_t>(r) * s.stride;
    P sum[K], x = T(0), factor[K];
    for (int k = 0; k < K; ++k) {
      sum[k] = T(0);
      factor[k] = c[4 * r + k];
    }
    for (int m = 0; m < s.channels; m += P::width) {
      const P value_m = P::load(g + m);
      P mixed = T(0);
      for (int k = 0; k < K; ++k) {
        const P pk = P::load(p + k * s.stride + m);
        sum[k] = fma(value_m, pk, sum[k]);
        mixed = fma(factor[k], pk, mixed);
      }
      x = fma(mixed, P::load(u + m), x);
    }
    for (int k = 0; k < K; ++k) c_bar[4 * r + k] = total_of(sum[k]);
    x_bar[r] = total_of(x);
  }
}

template <class T, int K>
void adjoints_k(const DescriptorKernels<T>& s, const T* c, const T* c_dot, T x_dot, const T* a_bar, const T* p,
                T* value_bar, T* slope_bar) {
  using P = HostPack<T>;
  P factor[K], change[K];
  for (int k = 0; k < K; ++k) {
    factor[k] = c[k];
    change[k] = c_dot[k];
  }
  for (int m = 0; m < s.channels; m += P::width) {
    P v = T(0), u = T(0);
    for (int k = 0; k < K; ++k) {
      const P pk = P::load(p + k * s.stride + m);
      v = fma(factor[k], P::load(a_bar + k * s.stride + m), fma(change[k], pk, v));
      u = fma(factor[k], pk, u);
    }
    v.store(value_bar + m);
    (u * P(x_dot)).store(slope_bar + m);
  }
}

}  // namespace

template <class T>
void DescriptorKernels<T>::add_values(int rows, const T* c, const T* value, T* a) const {
  components == 4 ? add_values_k<T, 4>(*this, rows, c, value, a) : add_values_k<T, 1>(*this, rows, c, value, a);
}

template <class T>
void DescriptorKernels<T>::add_changes(int rows, const T* c, const T* c_dot, const T* x_dot, const T* value,
                                       const T* slope, T* a) const {
  components == 4 ? add_changes_k<T, 4>(*this, rows, c, c_dot, x_dot, value, slope, a)
                  : add_changes_k<T, 1>(*this, rows, c, c_dot, x_dot, value, slope, a);
}

template <class T>
void DescriptorKernels<T>::row_gradients(int rows, const T* c, const T* value, const T* slope, const T* p, T* c_bar,
                                         T* x_bar) const {
  components == 4 ? row_gradients_k<T, 4>(*this, rows, c, value, slope, p, c_bar, x_bar)
                  : row_gradients_k<T, 1>(*this, rows, c, value, slope, p, c_bar, x_bar);
}

template <class T>
void DescriptorKernels<T>::adjoints(const T* c, const T* c_dot, T x_dot, const T* a_bar, const T* p, T* value_bar,
                                    T* slope_bar) const {
  components == 4 ? adjoints_k<T, 4>(*this, c, c_dot, x_dot, a_bar, p, value_bar, slope_bar)
                  : adjoints_k<T, 1>(*this, c, c_dot, x_dot, a_bar, p, value_bar, slope_bar);
}

template <class T>
void DescriptorKernels<T>::descriptor(const T* a, T* d) const {
  if (components == 1) {
    for (int m = 0; m < channels; m += P::width) (P::load(a + m) * P(T(radial_scale))).store(d + m);
    return;
  }
  // In ascending order: the padding that a row of channels writes over the next one is overwritten.
  for (int q = 0; q < axis; ++q)
    for (int m = 0; m < channels; m += P::width) {
      P sum = T(0);
      for (int k = 0; k < 4; ++k) sum = fma(P(a[k * stride + q]), P::load(a + k * stride + m), sum);
      sum.store(d + q * channels + m);
    }
}

template <class T>
void DescriptorKernels<T>::descriptor_dot(const T* a, const T* a_dot, T* d_dot) const {
  if (components == 1) return descriptor(a_dot, d_dot);
  for (int q = 0; q < axis; ++q)
    for (int m = 0; m < channels; m += P::width) {
      P sum = T(0);
      for (int k = 0; k < 4; ++k) {
        sum = fma(P(a_dot[k * stride + q]), P::load(a + k * stride + m), sum);
        sum = fma(P(a[k * stride + q]), P::load(a_dot + k * stride + m), sum);
      }
      sum.store(d_dot + q * channels + m);
    }
}

namespace {
/// a_bar += adjoint of descriptor(a) contracted with d_bar.
template <class T>
void add_adjoint(const DescriptorKernels<T>& s, const T* a, const T* d_bar, T* a_bar) {
  using P = HostPack<T>;
  for (int q = 0; q < s.axis; ++q) {
    P dots[4] = {T(0), T(0), T(0), T(0)};
    for (int m = 0; m < s.channels; m += P::width) {
      P g = P::load(d_bar + q * s.channels + m);
      if (s.channels - m < P::width) g = keep(P::Mask::first(s.channels - m), g);
      for (int k = 0; k < 4; ++k) {
        dots[k] = fma(g, P::load(a + k * s.stride + m), dots[k]);
        fma(g, P(a[k * s.stride + q]), P::load(a_bar + k * s.stride + m)).store(a_bar + k * s.stride + m);
      }
    }
    for (int k = 0; k < 4; ++k) a_bar[k * s.stride + q] += sum(dots[k]);
  }
}
}  // namespace

template <class T>
void DescriptorKernels<T>::descriptor_adjoint(const T* a, const T* d_bar, const T* a_dot, const T* d_dot_bar, T scale,
                                              T* a_bar) const {
  if (components == 1) {
    for (int m = 0; m < channels; ++m) a_bar[m] = scale * T(radial_scale) * d_bar[m];
    return;
  }
  std::fill_n(a_bar, 4 * stride, T(0));
  add_adjoint(*this, a, d_bar, a_bar);
  if (a_dot) add_adjoint(*this, a_dot, d_dot_bar, a_bar);
  for (int k = 0; k < 4 * stride; k += P::width) (P::load(a_bar + k) * P(scale)).store(a_bar + k);
}

template struct DescriptorKernels<double>;
template struct DescriptorKernels<float>;

}  // namespace cambium::deepmd
