#pragma once
#include "plugins/deepmd/model/dense_layer.hpp"
#include "plugins/deepmd/model/embedding_rows.hpp"
#include "plugins/deepmd/model/pair_list.hpp"

namespace cambium::deepmd {

/// Sizes of a descriptor for the kernels. A row of `components` x padded channels is stored in packs:
/// [pack][component][lane].
struct DescriptorShape {
  int channels = 0, axis = 0, components = 4;
  double scale = 1.0;  ///< 1 / sum of sel, and 1 / 5 for the radial descriptor

  /// D[n][m] = D[m][n] for m, n < axis: only m >= n is kept, in column base(n) + m, which saves the first fitting layer
  /// the redundant columns.
  KOKKOS_INLINE_FUNCTION int base(int n) const { return n * channels - n * (n + 1) / 2; }
  int columns() const { return components == 1 ? channels : base(axis) + axis; }
  int file_columns() const { return components == 1 ? channels : channels * axis; }
};

/// Offset of channel `c` and component `k` in a row stored in packs: [pack][component][lane].
template <class T>
CAMBIUM_FN int place_in_packs(int c, int k, int components) {
  return (c / lanes<T> * components + k) * lanes<T> + c % lanes<T>;
}

/// a(atom, :) = scale (sum_pairs G R^T + sum_t (sel_t - n_t) c_t): the contraction A of the descriptor without empty
/// neighbour slots. `padding` holds c_t = G(R_empty) R_empty^T by neighbour type, `slots` holds sel.
template <class T, class Rows>
void contract_pairs(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const View<T**>& padding,
                    const View<int*>& slots, const Matrix<T>& a);

/// Descriptor rows from a: D[n][m] = sum_k a[m][k] a[n][k] for n < axis, n <= m < channels; radial: D = a.
template <class T>
void make_descriptor(int atoms, const Matrix<T>& a, const DescriptorShape& shape, const Matrix<T>& d);

/// da = scale dE/da from dE/dD of the columns kept.
template <class T>
void descriptor_adjoint(int atoms, const Matrix<T>& a, const Matrix<T>& dd, const DescriptorShape& shape,
                        const Matrix<T>& da);

/// D in the layout of model files, D[m][n] in column m axis + n, for fitting networks with a residual connection to
/// their input; and the adjoint of the columns kept from the adjoint of that layout.
template <class T>
void expand_descriptor(int atoms, const DescriptorShape& shape, const Matrix<T>& d, const Matrix<T>& whole);
template <class T>
void fold_adjoint(int atoms, const DescriptorShape& shape, const Matrix<T>& whole, const Matrix<T>& dd);

/// Copies the first columns of one matrix into another.
template <class T>
void copy_columns(int atoms, int columns, const Matrix<T>& from, const Matrix<T>& to);

/// force(p, :) = dE_i/dr_j of every pair p = (i, j), eV/Å.
template <class T, class Rows>
void pair_gradients(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const NeighborKinds& kinds,
                    const Matrix<T>& da, const View<double* [3]>& force);

}  // namespace cambium::deepmd
