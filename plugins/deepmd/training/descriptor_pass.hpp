#pragma once
#include "plugins/deepmd/training/buffer.hpp"

namespace cambium::deepmd {

/// Products of an atom's embedding matrix A (components x channels) with its neighbours' rows and with itself. All
/// matrices of one atom are `components` consecutive rows; K is 4 for se_e2_a and 1 for se_e2_r.
template <class T>
struct DescriptorKernels {
  using P = HostPack<T>;
  int components = 4, channels = 0, axis = 0;
  int stride = 0;  ///< of a row of A, and of a row of values and slopes

  /// a += sum over rows of c_k value; c has four values per row.
  void add_values(int rows, const T* c, const T* value, T* a) const;
  /// a += sum over rows of (c_dot_k value + c_k x_dot slope).
  void add_changes(int rows, const T* c, const T* c_dot, const T* x_dot, const T* value, const T* slope, T* a) const;
  /// c_bar_k = p_k . value and x_bar = sum_k c_k p_k . slope, row by row (four c_bar per row).
  void row_gradients(int rows, const T* c, const T* value, const T* slope, const T* p, T* c_bar, T* x_bar) const;
  /// value_bar = sum_k c_k a_bar_k + c_dot_k p_k, slope_bar = x_dot sum_k c_k p_k, one row.
  void adjoints(const T* c, const T* c_dot, T x_dot, const T* a_bar, const T* p, T* value_bar, T* slope_bar) const;

  int size() const { return components == 1 ? channels : axis * channels; }
  /// Descriptor, [axis][channel]: sum_k A_k,axis A_k,channel; se_e2_r: A / 5.
  void descriptor(const T* a, T* d) const;
  /// Its tangent for a change a_dot of A.
  void descriptor_dot(const T* a, const T* a_dot, T* d_dot) const;
  /// a_bar = scale (adjoint of descriptor() for d_bar, plus that of descriptor_dot() for d_dot_bar where given).
  void descriptor_adjoint(const T* a, const T* d_bar, const T* a_dot, const T* d_dot_bar, T scale, T* a_bar) const;
};

extern template struct DescriptorKernels<double>;
extern template struct DescriptorKernels<float>;

}  // namespace cambium::deepmd
