#pragma once
#include "plugins/deepmd/model/embedding_rows.hpp"
#include "plugins/deepmd/model/pair_list.hpp"

namespace cambium::deepmd {

/// Pairs (p, q), p <= q, of the neighbours of each atom of a chunk, as passed to kernels. Those of atom a are first(a)
/// <= k < first(a + 1), in the order (0, 0), (0, 1), ... (1, 1), ... of its neighbours.
template <class T>
struct Angles {
  View<int*> first;     ///< atoms + 1 values
  View<T*> product;     ///< of the two neighbours' normalised directions
  View<T*> weight;      ///< 1 / (sel of both types), twice that for two neighbours of one type with p < q
  View<T* [2]> point;   ///< as in Pairs
  View<int* [2]> slot;  ///< as in Pairs

  /// Index of (p, q), p <= q < n, among the angles of an atom with n neighbours.
  CAMBIUM_FN static int place(int p, int q, int n) { return p * n - p * (p - 1) / 2 + q - p; }
};

/// Builds Angles from a list of pairs.
template <class T>
struct AngleList : Angles<T> {
  int angles = 0;
  View<T*> input;              ///< network: inputs in the order of the slots, grouped by network
  std::vector<int> net_first;  ///< network: first input of each network; ntypes^2 + 1 values

  /// `inverse_sel` by type. With `tables` (not null) the slots are table intervals.
  void build(const PairList<T>& pairs, const View<double*>& inverse_sel, const TableSet<T>* tables);
  std::size_t bytes() const;

 private:
  void reserve(int n, bool inputs);
};

/// d(atom, c) = sum over an atom's angles of weight product G_c(product): the descriptor se_e3 (DeePMD-kit's
/// documentation, "Descriptor se_e3"). At the cut-off the products of a neighbour vanish, so empty slots add nothing.
template <class T, class Rows>
void contract_angles(int atoms, const Angles<T>& angles, const Rows& rows, int channels, const Matrix<T>& d);

/// force(p, :) = dE_i/dr_j of every pair p = (i, j), eV/Å, from dE/dD. `along` has room for one value per angle.
template <class T, class Rows>
void angle_gradients(const PairList<T>& pairs, const Angles<T>& angles, const Rows& rows, int channels,
                     const NeighborKinds& kinds, const Matrix<T>& dd, const View<double*>& along,
                     const View<double* [3]>& force);

}  // namespace cambium::deepmd
