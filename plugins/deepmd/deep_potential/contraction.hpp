#pragma once
#include "plugins/deepmd/deep_potential/dense_layer.hpp"
#include "plugins/deepmd/deep_potential/embedding_rows.hpp"
#include "plugins/deepmd/deep_potential/pair_list.hpp"

namespace cambium::deepmd {

/// The sizes of a descriptor that the kernels need. A row of `components` x padded channels is stored in packs:
/// [pack][component][lane].
struct DescriptorShape {
  int channels = 0, axis = 0, components = 4;
  double scale = 1.0;   ///< 1 / sum of sel, and 1 / 5 for the radial descriptor

  bool symmetric = true;

  /// D[n][m] = D[m][n] for m, n < axis. Where `symmetric`, only m >= first(n) = n is kept, which spares the first fitting
  /// layer its redundant columns: D[n][m] stands in column base(n) + m. Otherwise it stands where the file has it, in
  /// column m axis + n, for a first layer that adds its input to its output.
  KOKKOS_INLINE_FUNCTION int first(int n) const { return symmetric ? n : 0; }
  KOKKOS_INLINE_FUNCTION int base(int n) const { return n * channels - n * (n + 1) / 2; }
  int columns() const { return components == 1 ? channels : symmetric ? base(axis) + axis : channels * axis; }
};

/// a(atom, :) = scale (sum_pairs G R^T + sum_t (sel_t - n_t) c_t): the contraction A of the descriptor without empty
/// neighbour slots. `padding` holds c_t = G(R_empty) R_empty^T by neighbour type, `slots` holds sel.
template <class T, class Rows>
void contract_pairs(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const View<T**>& padding,
                    const View<int*>& slots, const Matrix<T>& a);

/// Descriptor rows from a: D[n][m] = sum_k a[m][k] a[n][k] for n < axis, first(n) <= m < channels; radial: D = a.
template <class T>
void make_descriptor(int atoms, const Matrix<T>& a, const DescriptorShape& shape, const Matrix<T>& d);

/// da = scale dE/da from dE/dD of the columns kept.
template <class T>
void descriptor_adjoint(int atoms, const Matrix<T>& a, const Matrix<T>& dd, const DescriptorShape& shape,
                        const Matrix<T>& da);

/// force(p, :) = dE_i/dr_j of every pair p = (i, j), eV/Å.
template <class T, class Rows>
void pair_gradients(const PairList<T>& list, const Rows& rows, const DescriptorShape& shape, const NeighborKinds& kinds,
                    const Matrix<T>& da, const View<double* [3]>& force);

}  // namespace cambium::deepmd
